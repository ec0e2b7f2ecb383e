"""The shapes of records and enumerations."""

from __future__ import annotations

import struct
from typing import Final, Literal

from abistore.extract.pdb import leaves as leaf
from abistore.extract.pdb.leaves import number
from abistore.extract.pdb.members import PdbMember, parts
from abistore.extract.pdb.types import PdbTypes, is_declaration
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Base, Enum, Enumerator, Field, Foreign, Opaque, Record, Sort, VirtualMethod

_SORTS: Final[dict[int, Literal["struct", "class", "union"]]] = {
    leaf.CLASS: "class",
    leaf.STRUCTURE: "struct",
    leaf.UNION: "union",
    leaf.INTERFACE: "class",
}


def shape_of(types: PdbTypes, index: int, name: Name | None = None) -> AnyShape:
    """The record or enumeration of number ``index``: defined, foreign, or only declared."""
    kind, data = types.records.record(index)
    sort: Sort = "enum" if kind == leaf.ENUM else _SORTS[kind]
    if name is not None and types.is_foreign(name):
        return Foreign(sort, None if is_declaration(data) else types.size(index), None)
    if is_declaration(data):
        return Opaque(sort)
    return _enum(types, data) if kind == leaf.ENUM else _record(types, kind, data)


def _enum(types: PdbTypes, data: bytes) -> Enum:
    underlying, listed = struct.unpack_from("<II", data, 4)
    found = [Enumerator(each.name, each.value) for each in parts(types.records, listed) if each.leaf == leaf.ENUMERATOR]
    return Enum(types.size(underlying), tuple(found), types.of(underlying))


def _record(types: PdbTypes, kind: int, data: bytes) -> Record:
    (listed,) = struct.unpack_from("<I", data, 4)
    size, _ = number(data, 8 if kind == leaf.UNION else 16)
    fields: list[Field] = []
    bases: list[Base] = []
    virtuals: list[VirtualMethod] = []
    has_vptr = False
    for part in parts(types.records, listed):
        if part.leaf == leaf.MEMBER:
            fields.append(_field(types, part))
        elif part.leaf in (leaf.BASE, leaf.INTERFACE_BASE):
            bases.append(Base(types.of(part.type), 8 * part.value, False, part.access))
        elif part.leaf == leaf.VIRTUAL_BASE:
            bases.append(Base(types.of(part.type), None, True, part.access))
        elif part.leaf == leaf.METHOD and part.is_virtual:
            virtuals.append(_virtual(types, part))
        elif part.leaf == leaf.VIRTUAL_TABLE:
            has_vptr = True
    virtuals.sort(key=lambda method: (method.slot is None, method.slot))
    return Record(_SORTS[kind], size, tuple(fields), tuple(bases), tuple(virtuals), has_vptr=has_vptr)


def _field(types: PdbTypes, part: PdbMember) -> Field:
    if part.type in types.records:
        kind, data = types.records.record(part.type)
        if kind == leaf.BIT_FIELD:
            of, width, position = struct.unpack_from("<IBB", data)
            return Field(part.name, types.of(of), 8 * part.value + position, width, part.access)
    return Field(part.name, types.of(part.type), 8 * part.value, None, part.access)


def _virtual(types: PdbTypes, part: PdbMember) -> VirtualMethod:
    taken = types.procedure(part.type)
    slot = part.value // types.word if part.is_new and part.value >= 0 else None
    return VirtualMethod(part.name, "", slot, taken.result, taken.parameters, part.is_pure, part.access)
