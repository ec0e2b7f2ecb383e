"""How a file names those that hold its debug information: ``.gnu_debuglink`` and ``.debug_sup``."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from abistore.extract.string_table import text_at

_VERSION: Final = 5
_NAME_START: Final = 3
"""Of ``.debug_sup``: after the version and the flag."""


def debug_link(section: bytes, order: str) -> tuple[str, int] | None:
    """The name of the debug file and its CRC-32; ``None`` where the section is absent or too short.

    The checksum stands behind the name's zero, at the next multiple of four bytes (GDB manual, "Separate Debug Files").
    ``order`` is that of its bytes, as :mod:`struct` spells it.
    """
    end = section.find(b"\0")
    start = (end + 4) & ~3
    if end < 1 or start + 4 > len(section):
        return None
    return text_at(section, 0), int(struct.unpack_from(order + "I", section, start)[0])


class SupplementaryLink(msgspec.Struct, frozen=True):
    """What ``.debug_sup`` says: whether the file is the supplementary one, else its name; the checksum of both."""

    is_supplementary: bool
    name: str
    checksum: str


def read_supplement(data: bytes, order: str) -> SupplementaryLink | None:
    """The contents of ``.debug_sup`` (DWARF 5, section 7.3.6); ``None`` where it is absent or not well-formed."""
    end = data.find(b"\0", _NAME_START)
    if end < 0 or struct.unpack_from(order + "H", data)[0] != _VERSION:
        return None
    (length,) = data[end + 1 : end + 2] or b"\0"  # ULEB128: no checksum has 128 bytes
    checksum = data[end + 2 : end + 2 + length]
    name = data[_NAME_START:end].decode("utf-8", "backslashreplace")
    return SupplementaryLink(data[2] != 0, name, checksum.hex()) if 0 < len(checksum) == length < 0x80 else None
