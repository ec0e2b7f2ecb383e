"""The parts of records and enumerations: field lists, one entry after the other."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import msgspec

from abistore.extract.pdb import leaves as leaf
from abistore.extract.pdb.leaves import number, text
from abistore.extract.pdb.type_records import TypeRecords
from abistore.model.shapes import Access

_ACCESS: Final[dict[int, Access]] = {1: "private", 2: "protected", 3: "public"}
_INTRODUCING: Final = frozenset({4, 6})
_VIRTUAL: Final = frozenset({1, 4, 5, 6})
_PURE: Final = frozenset({5, 6})
_STATIC: Final = 2

_ENTRY: Final = struct.Struct("<HHI")
"""Leaf, attributes, and the type of most entries."""


class PdbMember(msgspec.Struct):
    """One entry of a field list: its leaf, access, name, type, and its offset or value."""

    leaf: int
    access: Access = "public"
    name: str = ""
    type: int = 0
    value: int = 0
    sort: int = 0

    @property
    def is_virtual(self) -> bool:
        """Whether it is a virtual function."""
        return self.sort in _VIRTUAL

    @property
    def is_new(self) -> bool:
        """Whether it has a slot of its own in the vtable; ``value`` is its place there, in bytes."""
        return self.sort in _INTRODUCING

    @property
    def is_pure(self) -> bool:
        """Whether it is a pure virtual function."""
        return self.sort in _PURE

    @property
    def is_static(self) -> bool:
        """Whether it is a static member function."""
        return self.sort == _STATIC


def parts(records: TypeRecords, index: int) -> Iterator[PdbMember]:
    """The entries of the field list ``index``; overloads one by one. Ends at an entry of an unknown form."""
    seen = set[int]()
    while index in records and index not in seen:
        seen.add(index)
        kind, data = records.record(index)
        if kind != leaf.FIELDS:
            return
        index, at = 0, 0
        while at + 4 <= len(data):
            if data[at] >= 0xF0:  # padding tells how long it is
                at += max(data[at] & 15, 1)
                continue
            part, at = _part(data, at)
            if part.leaf == leaf.CONTINUATION:
                index = part.type
            elif part.leaf == leaf.OVERLOADS:
                yield from _overloads(records, part)
            else:
                yield part


def _part(data: bytes, at: int) -> tuple[PdbMember, int]:
    kind, attributes, type = _ENTRY.unpack_from(data.ljust(at + 8, b"\0"), at)
    part = PdbMember(kind, _ACCESS.get(attributes & 3, "public"), type=type, sort=attributes >> 2 & 7)
    after = at + _ENTRY.size
    if kind == leaf.ENUMERATOR:
        part.value, after = number(data, at + 4)
        part.name, after = text(data, after)
    elif kind == leaf.MEMBER:
        part.value, after = number(data, after)
        part.name, after = text(data, after)
    elif kind in (leaf.STATIC_MEMBER, leaf.NESTED, leaf.NESTED_WITH_ACCESS, leaf.OVERLOADS):
        part.value = attributes  # of overloads, how many there are
        part.name, after = text(data, after)
    elif kind == leaf.METHOD:
        if part.is_new:
            (part.value,) = struct.unpack_from("<i", data, after)
            after += 4
        part.name, after = text(data, after)
    elif kind in (leaf.BASE, leaf.INTERFACE_BASE):
        part.value, after = number(data, after)
    elif kind in (leaf.VIRTUAL_BASE, leaf.INDIRECT_BASE):
        part.value, after = number(data, after + 4)
        _, after = number(data, after)
    elif kind not in (leaf.VIRTUAL_TABLE, leaf.CONTINUATION):
        raise IndexError(f"a member of the unknown form {kind:#x}")
    return part, after


def _overloads(records: TypeRecords, part: PdbMember) -> Iterator[PdbMember]:
    """The functions of a method list: attributes, type, and the place in the vtable of those that are new there."""
    kind, data = records.record(part.type)
    at = 0
    while kind == leaf.METHODS and at + 8 <= len(data):
        attributes, type = struct.unpack_from("<H2xI", data, at)
        at += 8
        found = PdbMember(leaf.METHOD, _ACCESS.get(attributes & 3, "public"), part.name, type, sort=attributes >> 2 & 7)
        if found.is_new:
            (found.value,) = struct.unpack_from("<i", data, at)
            at += 4
        yield found
