"""The version resource: which version of a product a DLL says it is of."""

from __future__ import annotations

import struct
from typing import Final

from abistore.errors import ExtractError
from abistore.extract.pe.container import RESOURCES, PeFile

VERSION: Final = 16
"""The type of version resources (``RT_VERSION``)."""

_SIGNATURE: Final = struct.pack("<I", 0xFEEF04BD)
_MOST_ENTRIES: Final = 1 << 12
_FIXED: Final = struct.Struct("<16xHHHH")


def product_version(pe: PeFile) -> str | None:
    """``3.1.0.0``: the product's version as numbers, or ``None`` where the file does not tell."""
    start, size = pe.directory(RESOURCES)
    if not start or not size:
        return None
    try:
        resource = _leaf(pe, start)
        found = resource.find(_SIGNATURE)
        if found < 0 or found + _FIXED.size > len(resource):
            return None
        minor, major, build, patch = _FIXED.unpack_from(resource, found)
    except ExtractError:
        return None  # no part of the ABI: what is damaged there need not stop the reading
    numbers = (major, minor, patch, build)
    return ".".join(map(str, numbers)) if any(numbers) else None


def _leaf(pe: PeFile, start: int) -> bytes:
    """The first version resource: the tree has a level for types, one for names, and one for languages."""
    place, wanted = 0, VERSION
    for _ in range(3):
        following = _entry(pe, start + place, wanted)
        if following is None:
            return b""
        place, wanted = following & 0x7FFFFFFF, -1
        if not following >> 31:
            address, size = struct.unpack("<II", pe.at_address(start + place, 8))
            return pe.at_address(address, min(size, 1 << 12))
    return b""


def _entry(pe: PeFile, address: int, wanted: int) -> int | None:
    """Where the entry ``wanted`` of a directory leads, or its first entry (-1)."""
    names, numbers = struct.unpack("<HH", pe.at_address(address + 12, 4))
    count = min(names + numbers, _MOST_ENTRIES)
    for key, target in struct.iter_unpack("<II", pe.at_address(address + 16, 8 * count)):
        if wanted in (-1, key):
            return int(target)
    return None
