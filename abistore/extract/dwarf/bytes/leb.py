"""Numbers of variable length (LEB128, DWARF 5 section 7.6)."""

from __future__ import annotations

from abistore.extract.dwarf.bytes.faults import MalformedDwarf

LONGEST = 126
"""Bits after which a number must have ended: more than any form carries, few enough to keep hostile ones cheap."""


def unsigned(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned number at ``position``, and the position after it."""
    value = data[position]
    if value < 0x80:
        return value, position + 1
    byte = data[position + 1]
    position += 2
    value += (byte << 7) - 0x80
    if byte < 0x80:  # nearly all numbers have one or two bytes
        return value, position
    value -= 0x80 << 7
    shift = 14
    while byte > 0x7F:
        if shift > LONGEST:
            raise MalformedDwarf("a LEB128 number has no end")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, position


def signed(data: bytes, position: int) -> tuple[int, int]:
    """The signed number at ``position``, and the position after it."""
    start = position
    value, position = unsigned(data, position)
    if data[position - 1] & 0x40:
        value -= 1 << 7 * (position - start)
    return value, position


def skip(data: bytes, position: int) -> int:
    """The position after the number at ``position``."""
    while data[position] > 0x7F:
        position += 1
    return position + 1


def encode(value: int) -> bytes:
    """The shortest unsigned number of this value."""
    if value < 0x80:
        return bytes((value,))
    return bytes((value & 0x7F | 0x80,)) + encode(value >> 7)
