"""RPM packages: a lead, two headers, and a compressed cpio archive."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.cpios import cpio_members
from abistore.extract.packages.formats.identity import LONGEST, PackageIdentity
from abistore.extract.packages.formats.members import PackageMember
from abistore.extract.packages.formats.streams import part, unpacked

MAGIC = b"\xed\xab\xee\xdb"
_LEAD, _HEADER_MAGIC = 96, b"\x8e\xad\xe8\x01"
_NAME, _VERSION, _RELEASE = 1000, 1001, 1002
_STRING = 6
_MOST_TAGS, _MOST_BYTES = 1 << 16, 256 << 20
"""What RPM itself allows a header."""


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins an RPM package."""
    return head.startswith(MAGIC)


def identity(file: InputFile, bounds: UnpackBounds) -> PackageIdentity:
    """The name of the header, and its version with the release: ``1.2-3.fc40``."""
    said, _ = _headers(file)
    version = "-".join(filter(None, (said.get(_VERSION), said.get(_RELEASE))))
    return PackageIdentity(said.get(_NAME, ""), version)


def members(file: InputFile, bounds: UnpackBounds) -> Iterator[PackageMember]:
    """What is installed."""
    _, payload = _headers(file)
    yield from cpio_members(unpacked(part(file, payload, file.size - payload), bounds), bounds)


def _headers(file: InputFile) -> tuple[dict[int, str], int]:
    """What the main header says, and where the payload begins."""
    _, end = _header(file, _LEAD)
    return _header(file, end + -end % 8)


def _header(file: InputFile, offset: int) -> tuple[dict[int, str], int]:
    start = file.read_at(offset, 16)
    count, size = struct.unpack(">II", start[8:])
    if start[:4] != _HEADER_MAGIC or count > _MOST_TAGS or size > _MOST_BYTES:
        raise ExtractError(f"{file.path.name}: a header of the RPM package is damaged", "download it again")
    index, store = offset + 16, offset + 16 + 16 * count
    said = dict[int, str]()
    for tag, kind, place, _ in struct.iter_unpack(">IIII", file.read_at(index, 16 * count)):
        if kind == _STRING and tag in (_NAME, _VERSION, _RELEASE) and place < size:
            text = file.read_at(store + place, min(LONGEST, size - place))
            said[tag] = text.partition(b"\0")[0].decode("utf-8", "replace")
    file.check_range(store, size)
    return said, store + size
