"""What a package says of itself: its name, its version, and the packages that it belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

LONGEST = 200
_GOES_ON = re.compile(r"\r?\n[ \t]+(?=\S)")
_NEEDED = re.compile(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)")
_ONE_VERSION = re.compile(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*\(\s*=[^)]*\)")


class PackageIdentity(NamedTuple):
    """Name and version; empty where the package does not tell.

    ``needs`` are the packages that it depends on, ``built_with`` those of which it needs one version alone: Debian's
    ``libfoo1 (= 1.0-1)``.
    """

    name: str = ""
    version: str = ""
    built_with: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()


class _Index(msgspec.Struct):
    name: str = ""
    version: str = ""


IN_FILE_NAME = re.compile(r"(.+?)[-_]v?(\d[\w.+~]*?)(?:[-_].*)?(?:\.tar)?\.(?:t?[a-z]z2?|bz2|zst|tar|zip)")


def from_fields(data: bytes, name: str) -> PackageIdentity:
    """Of lines ``Field: value``, up to the first empty one: Debian's control file, a wheel's METADATA."""
    said = dict[str, str]()
    for line in _GOES_ON.sub(" ", data.decode("utf-8", "replace")).splitlines():
        if not line.strip():
            break
        field, colon, value = line.partition(":")
        if colon and not line[0].isspace():
            said.setdefault(field.strip(), value.strip())
    depends = said.get("Depends", "")
    built_with, needs = frozenset(_ONE_VERSION.findall(depends)), tuple(_NEEDED.findall(depends))
    return PackageIdentity(said.get(name, "")[:LONGEST], said.get("Version", "")[:LONGEST], built_with, needs)


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
