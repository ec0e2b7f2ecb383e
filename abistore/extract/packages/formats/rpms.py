"""RPM packages: a lead, two headers, and a compressed cpio archive."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.cpios import cpio_members
from abistore.extract.packages.formats.identity import LONGEST, MOST_NAMED, PackageIdentity
from abistore.extract.packages.formats.members import PackageMember
from abistore.extract.packages.formats.streams import part, unpacked

MAGIC = b"\xed\xab\xee\xdb"
_LEAD, _HEADER_MAGIC = 96, b"\x8e\xad\xe8\x01"
_NAME, _VERSION, _RELEASE, _DISTRIBUTION, _ARCHITECTURE, _SOURCE = 1000, 1001, 1002, 1010, 1022, 1044
_REQUIRED, _REQUIRED_HOW, _CONFLICTS, _CONFLICTS_HOW, _CONFLICTS_VERSION = 1049, 1048, 1054, 1053, 1055
_STRING, _STRINGS, _NUMBERS = 6, 8, 4
_EQUAL, _ANY_SIGN, _OF_RPM_ITSELF = 8, 14, 1 << 24
_SIGNS = {2: "<", 4: ">", 8: "=", 10: "<=", 12: ">="}
_SOURCE_FILE = re.compile(r"-[^-]+-[^-]+\.(?:no)?src\.rpm$")
_MOST_TAGS, _MOST_BYTES = 1 << 16, 256 << 20
"""What RPM itself allows a header."""


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins an RPM package."""
    return head.startswith(MAGIC)


def identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """What the header says; the version is that with the release: ``1.2-3.fc40``."""
    said, _ = _headers(file)
    told = zip(said.strings(_REQUIRED), said.numbers(_REQUIRED_HOW), strict=False)
    needs = [(name, how) for name, how in told if not how & _OF_RPM_ITSELF and not name.startswith("(")]
    required = [name for name, _ in needs]
    exactly = [name for name, how in needs if how & _ANY_SIGN == _EQUAL]
    return PackageIdentity(
        said.text(_NAME),
        "-".join(filter(None, (said.text(_VERSION), said.text(_RELEASE)))),
        frozenset(map(_package, exactly)),
        tuple(map(_package, required)),
        source=_SOURCE_FILE.sub("", said.text(_SOURCE)),
        architecture=said.text(_ARCHITECTURE),
        suite=said.text(_DISTRIBUTION),
        depends=tuple(sorted(set(required)))[:MOST_NAMED],
        breaks=tuple(_conflicts(said)),
    )


def _package(required: str) -> str:
    """``libfoo`` of ``libfoo(x86-64)``: the package of one architecture."""
    return required.partition("(")[0]


def _conflicts(said: _Header) -> Iterator[str]:
    """What does not work beside it: ``foo < 2``."""
    columns = (said.strings(_CONFLICTS), said.numbers(_CONFLICTS_HOW), said.strings(_CONFLICTS_VERSION))
    for name, how, version in zip(*columns, strict=False):
        yield f"{name} {_SIGNS.get(how & _ANY_SIGN, '')} {version}".strip() if version else name


def members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """What is installed."""
    _, payload = _headers(file)
    yield from cpio_members(unpacked(part(file, payload, file.size - payload), bounds), bounds)


def _headers(file: InputFile) -> tuple[_Header, int]:
    """The main header, and where the payload begins."""
    _, end = _header(file, _LEAD)
    return _header(file, end + -end % 8)


class _Header(NamedTuple):
    """A header: the kind, place and number of the values of each tag, and the bytes that these lie in."""

    tags: dict[int, tuple[int, int, int]]
    store: bytes

    def text(self, tag: int) -> str:
        """The one string of a tag; empty where there is none."""
        return next(iter(self._strings(tag, _STRING)), "")[:LONGEST]

    def strings(self, tag: int) -> list[str]:
        """The strings of a tag."""
        return [each[:LONGEST] for each in self._strings(tag, _STRINGS)]

    def numbers(self, tag: int) -> tuple[int, ...]:
        """The numbers of a tag."""
        kind, place, count = self.tags.get(tag, (0, 0, 0))
        data = self.store[place : place + 4 * min(count, MOST_NAMED)]
        return struct.unpack(f">{len(data) // 4}I", data[: len(data) // 4 * 4]) if kind == _NUMBERS else ()

    def _strings(self, tag: int, wanted: int) -> list[str]:
        kind, place, count = self.tags.get(tag, (0, 0, 0))
        if kind != wanted or place >= len(self.store):
            return []
        most = min(count, MOST_NAMED)
        found = self.store[place : place + most * LONGEST].split(b"\0", most)[:most]
        return [each.decode("utf-8", "replace") for each in found]


def _header(file: InputFile, offset: int) -> tuple[_Header, int]:
    start = file.read_at(offset, 16)
    count, size = struct.unpack(">II", start[8:])
    if start[:4] != _HEADER_MAGIC or count > _MOST_TAGS or size > _MOST_BYTES:
        raise ExtractError(f"{file.path.name}: a header of the RPM package is damaged", "download it again")
    index, store = offset + 16, offset + 16 + 16 * count
    rows = struct.iter_unpack(">IIII", file.read_at(index, 16 * count))
    places = {tag: (kind, place, values) for tag, kind, place, values in rows}
    file.check_range(store, size)
    return _Header(places, file.read_at(store, size)), store + size
