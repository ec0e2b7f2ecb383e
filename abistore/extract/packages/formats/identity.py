"""What a package says of itself: its name, its version, and the packages that it belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

LONGEST = 200
MOST_NAMED = 500
"""How many packages a package may depend on, or break."""

_GOES_ON = re.compile(r"\r?\n[ \t]+(?=\S)")
_NEEDED = re.compile(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)")
_SURELY = re.compile(r"(?:^|(?<=,))\s*([a-z0-9][a-z0-9+.-]*)(?=[^,|]*(?:,|$))")
_ONE_VERSION = re.compile(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*\(\s*=[^)]*\)")


class PackageIdentity(NamedTuple):
    """Name and version; empty where the package does not tell.

    ``needs`` are the packages that it depends on, ``built_with`` those of which it needs one version alone: Debian's
    ``libfoo1 (= 1.0-1)``. ``depends`` are what is installed with it in any case: packages without an alternative, and
    what an RPM package requires. ``breaks`` are the packages that it does not work beside: ``foo (<< 2)``.
    ``symbols`` is the text of Debian's symbols file.
    """

    name: str = ""
    version: str = ""
    built_with: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    source: str = ""
    architecture: str = ""
    suite: str = ""
    depends: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    symbols: str = ""


class _Index(msgspec.Struct):
    name: str = ""
    version: str = ""


IN_FILE_NAME = re.compile(r"(.+?)[-_]v?(\d[\w.+~]*?)(?:[-_].*)?(?:\.tar)?\.(?:t?[a-z]z2?|bz2|zst|tar|zip)")


def from_control(data: bytes) -> PackageIdentity:
    """Of Debian's control file."""
    said = _fields(data)
    name = said.get("Package", "")[:LONGEST]
    depends = ", ".join(filter(None, (said.get(field, "") for field in ("Pre-Depends", "Depends"))))
    return PackageIdentity(
        name,
        said.get("Version", "")[:LONGEST],
        frozenset(_ONE_VERSION.findall(depends)),
        tuple(_NEEDED.findall(depends)),
        source=said.get("Source", name).partition(" ")[0][:LONGEST],
        architecture=said.get("Architecture", "")[:LONGEST],
        depends=tuple(sorted(set(_SURELY.findall(depends))))[:MOST_NAMED],
        breaks=_listed(said.get("Breaks", "")),
    )


def from_metadata(data: bytes) -> PackageIdentity:
    """Of a wheel's METADATA."""
    said = _fields(data)
    return PackageIdentity(said.get("Name", "")[:LONGEST], said.get("Version", "")[:LONGEST])


def _fields(data: bytes) -> dict[str, str]:
    """Lines ``Field: value``, up to the first empty one."""
    said = dict[str, str]()
    for line in _GOES_ON.sub(" ", data.decode("utf-8", "replace")).splitlines():
        if not line.strip():
            break
        field, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            said.setdefault(field.strip(), value.strip())
    return said


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip()[:LONGEST] for each in text.split(",") if each.strip())[:MOST_NAMED]


def from_index(data: bytes) -> PackageIdentity:
    """Of conda's ``info/index.json``."""
    try:
        said = msgspec.json.decode(data, type=_Index)
    except msgspec.DecodeError:
        return PackageIdentity()
    return PackageIdentity(said.name[:LONGEST], said.version[:LONGEST])


def from_file_name(name: str) -> PackageIdentity:
    """Of an archive's name: ``libfoo-1.2.0.tar.gz``."""
    found = IN_FILE_NAME.fullmatch(name)
    return PackageIdentity(found[1], found[2]) if found else PackageIdentity()
