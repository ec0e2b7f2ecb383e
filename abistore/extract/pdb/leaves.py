"""Leaves of type records: their numbers, and the numbers and texts in them (LLVM, "CodeView Type Records")."""

from __future__ import annotations

import struct
from typing import Final

MODIFIER, POINTER, PROCEDURE, MEMBER_FUNCTION, ARGUMENTS = 0x1001, 0x1002, 0x1008, 0x1009, 0x1201
FIELDS, BIT_FIELD, METHODS = 0x1203, 0x1205, 0x1206
ARRAY, CLASS, STRUCTURE, UNION, ENUM, INTERFACE = 0x1503, 0x1504, 0x1505, 0x1506, 0x1507, 0x1519
FUNCTION_ID, MEMBER_FUNCTION_ID = 0x1601, 0x1602

BASE, VIRTUAL_BASE, INDIRECT_BASE, CONTINUATION, VIRTUAL_TABLE = 0x1400, 0x1401, 0x1402, 0x1404, 0x1409
ENUMERATOR, MEMBER, STATIC_MEMBER, OVERLOADS, NESTED, METHOD = 0x1502, 0x150D, 0x150E, 0x150F, 0x1510, 0x1511
NESTED_WITH_ACCESS, INTERFACE_BASE = 0x1512, 0x151A
"""Linkers write nested types without access (``NESTED``)."""

RECORDS: Final = frozenset({CLASS, STRUCTURE, UNION, INTERFACE})
DEFINED: Final = RECORDS | {ENUM}
FORWARD: Final = 0x80
"""The flag of records that are declared only."""

_NUMBERS: Final = {
    **{0x8000: struct.Struct("<b"), 0x8001: struct.Struct("<h"), 0x8002: struct.Struct("<H")},
    **{0x8003: struct.Struct("<i"), 0x8004: struct.Struct("<I"), 0x8009: struct.Struct("<q")},
    0x800A: struct.Struct("<Q"),
}
_WIDE: Final = {0x8017: True, 0x8018: False}
_SHORT: Final = struct.Struct("<H")


def number(data: bytes, at: int) -> tuple[int, int]:
    """A number of any width, and the place behind it."""
    (value,) = _SHORT.unpack_from(data, at)
    if value < 0x8000:
        return value, at + 2
    if value in _WIDE:
        return int.from_bytes(data[at + 2 : at + 18], "little", signed=_WIDE[value]), at + 18
    layout = _NUMBERS.get(value)
    if layout is None:
        raise IndexError(f"a number of the unknown form {value:#x}")
    return layout.unpack_from(data, at + 2)[0], at + 2 + layout.size


def text(data: bytes, at: int) -> tuple[str, int]:
    """A zero-terminated text, and the place behind it."""
    end = data.find(b"\0", at)
    end = end if end >= 0 else len(data)
    return data[at:end].decode("utf-8", "backslashreplace"), end + 1


def raw_text(data: bytes, at: int) -> bytes:
    """A zero-terminated text as it is stored."""
    end = data.find(b"\0", at)
    return data[at : end if end >= 0 else len(data)]
