"""The type stream of a PDB file: records by their number, and the definition of what is declared elsewhere."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import Final

from abistore.extract.pdb.faults import MalformedPdb
from abistore.extract.pdb.leaves import CLASS, DEFINED, ENUM, FORWARD, INTERFACE, STRUCTURE, UNION, number, raw_text

_HEADER: Final = struct.Struct("<IIIII")
_LEAF: Final = struct.Struct("<HH")

_WIDER: Final = {0x1608: CLASS, 0x1609: STRUCTURE, 0x160A: UNION, 0x160B: INTERFACE}
"""Records of newer compilers (``LF_CLASS2``, ...), which hold the same in another order."""

_BEFORE_SIZE: Final = {UNION: 8, ENUM: 12}
"""Where the size, or the name of an enumeration, stands in a record; 16 in all others."""


class TypeRecords:
    """The records of one type stream. Numbers below :attr:`first` are built-in types and in no record."""

    def __init__(self, stream: bytes) -> None:
        self._data = stream
        _, header, first, end, size = _HEADER.unpack_from(stream)
        self.first: int = first
        if header < _HEADER.size or header + size > len(stream) or end < first:
            raise MalformedPdb("the PDB file is corrupt: its type stream contradicts itself")
        self._starts = array("I", self._places(header, header + size))
        self._definitions: dict[bytes, int] | None = None

    def _places(self, at: int, end: int) -> Iterator[int]:
        data, unpack = self._data, _LEAF.unpack_from
        while at + 4 <= end:
            yield at
            at += 2 + max(unpack(data, at)[0], 2)

    def __contains__(self, index: int) -> bool:
        return self.first <= index < self.first + len(self._starts)

    def record(self, index: int) -> tuple[int, bytes]:
        """The leaf of a record and what stands behind it. Raises :class:`IndexError` where there is none."""
        if index not in self:
            raise IndexError(f"there is no type {index:#x}")
        start = self._starts[index - self.first]
        return self._record_at(start)

    def _record_at(self, start: int) -> tuple[int, bytes]:
        length, leaf = _LEAF.unpack_from(self._data, start)
        data = self._data[start + 4 : start + 2 + length]
        return _in_former_layout(leaf, data) if leaf in _WIDER else (leaf, data)

    def definition(self, index: int) -> int:
        """The record that defines what ``index`` only declares; ``index`` itself where none does."""
        leaf, data = self.record(index)
        if leaf not in DEFINED or not flags(data) & FORWARD:
            return index
        return self._defined.get(identity(leaf, data), index)

    def defines(self, name: str) -> int | None:
        """The record that defines the type ``name``."""
        return self._defined.get(name.encode())

    @property
    def _defined(self) -> dict[bytes, int]:
        if self._definitions is None:
            self._definitions = dict(self._named())
        return self._definitions

    def _named(self) -> Iterator[tuple[bytes, int]]:
        for place, start in enumerate(self._starts):
            leaf, data = self._record_at(start)
            if leaf in DEFINED and not flags(data) & FORWARD:
                yield identity(leaf, data), self.first + place


def _in_former_layout(leaf: int, data: bytes) -> tuple[int, bytes]:
    """A record as compilers before Visual Studio 2019 wrote it: theirs begins with the number of members.

    Since then 32 bits of flags do, and the number is one of any width behind the references.
    """
    place = 8 if _WIDER[leaf] == UNION else 16
    (words,) = struct.unpack_from("<I", data)
    count, rest = number(data, place)
    head = struct.pack("<HH", min(max(count, 0), 0xFFFF), words & 0xFFFF)
    return _WIDER[leaf], head + data[4:place] + data[rest:]


def flags(data: bytes) -> int:
    """The flags of a record or enumeration."""
    return int(struct.unpack_from("<H", data, 2)[0])


def identity(leaf: int, data: bytes) -> bytes:
    """The name of a record or enumeration, which its declarations share."""
    at = _BEFORE_SIZE.get(leaf, 16)
    return raw_text(data, at if leaf == ENUM else number(data, at)[1])
