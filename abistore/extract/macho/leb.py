"""Numbers and names in the tables of dyld, bounded by the bytes that are there."""

from __future__ import annotations

LONGEST = 10
"""The most bytes of a 64-bit number."""


class Malformed(Exception):
    """A table of dyld contradicts itself. The reader names the file, and makes an error of it that users meet."""


def unsigned(data: bytes, place: int) -> tuple[int, int]:
    """The unsigned LEB128 number at ``place``, and where the next one begins."""
    value = shift = 0
    for position in range(place, min(place + LONGEST, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
        shift += 7
    raise Malformed("a number is cut off")


def signed(data: bytes, place: int) -> tuple[int, int]:
    """The signed LEB128 number at ``place``, and where the next one begins."""
    value, after = unsigned(data, place)
    bits = 7 * (after - place)
    return value - (1 << bits) if value >> (bits - 1) & 1 else value, after


def text(data: bytes, place: int) -> tuple[bytes, int]:
    """The zero-terminated text at ``place``, and where the next one begins."""
    end = data.find(b"\0", place)
    if end < 0:
        raise Malformed("a name is cut off")
    return data[place:end], end + 1


class NameBudget:
    """Bounds what names that overlap may become: together no more than some times the table that they lie in."""

    def __init__(self, size: int) -> None:
        self._left = 64 * size + (1 << 20)

    def spend(self, name: bytes) -> str:
        """The name as text. Bytes that are not UTF-8 are spelled ``\\xNN``."""
        self._left -= len(name)
        if self._left < 0:
            raise Malformed("the names overlap: together they would fill the memory")
        return name.decode("utf-8", "backslashreplace")
