"""The link between a file and the supplementary one that holds entries for several (DWARF 5, section 7.3.6)."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

VERSION: Final = 5
NAME_START: Final = 3
"""After the version and the flag."""


class SupplementaryLink(msgspec.Struct, frozen=True):
    """What ``.debug_sup`` says: whether the file is the supplementary one, else its name; the checksum of both."""

    is_supplementary: bool
    name: str
    checksum: str


def read_supplement(data: bytes, order: str) -> SupplementaryLink | None:
    """The contents of ``.debug_sup``; ``None`` where it is absent or not well-formed."""
    end = data.find(b"\0", NAME_START)
    if end < 0 or struct.unpack_from(order + "H", data)[0] != VERSION:
        return None
    (length,) = data[end + 1 : end + 2] or b"\0"  # ULEB128: no checksum has 128 bytes
    checksum = data[end + 2 : end + 2 + length]
    name = data[NAME_START:end].decode("utf-8", "backslashreplace")
    return SupplementaryLink(data[2] != 0, name, checksum.hex()) if 0 < len(checksum) == length < 0x80 else None
