"""The fields of records, those of anonymous structs and unions within them too."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from abistore.compare.types.sameness import NUMBERS
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Array, Enum, Field, Inline, Primitive, Qualified, Record, TypeRef


class InnerField(msgspec.Struct, frozen=True):
    """A member of an anonymous struct or union member, at its ``offset`` (bits) in the named record around it.

    An ``alternative`` stands directly in a union.
    """

    field: Field
    alternative: bool = False


def flat_fields(record: Record) -> list[Field | InnerField]:
    """The fields of ``record``, with those of its anonymous members in their place at offsets in ``record``.

    An unnamed bit-field is left out, an empty anonymous member too.
    """
    return list(_flatten(record, 0, 0))


def _flatten(record: Record, start: int, depth: int) -> Iterator[Field | InnerField]:
    for field in record.fields:
        placed = msgspec.structs.replace(field, offset=start + field.offset) if start else field
        if field.name:
            yield InnerField(placed, record.sort == "union") if depth else placed
        elif isinstance(field.type, Inline) and isinstance(field.type.shape, Record):
            yield from _flatten(field.type.shape, placed.offset, depth + 1)


def plain(field: Field | InnerField) -> Field:
    """The field itself, wherever it is declared."""
    return field.field if isinstance(field, InnerField) else field


def as_member(field: Field, side: TypeSide) -> TypeRef | None:
    """The type of an ordinary member with the bits of ``field``; ``None`` for a bit-field that is like none.

    ``unsigned red : 8`` at the start of a byte is an ``unsigned char``, on big-endian systems too: whole bytes have no
    bits to count from another end. A volatile bit-field may be read by all bytes of its declared type.
    """
    bare, qualifiers = side.bare(field.type)
    if field.bit_size is None:
        return bare
    if "volatile" in qualifiers or field.offset % 8 or field.bit_size % 8:
        return None
    if side.layouts.size(bare) == field.bit_size // 8:
        return bare
    if isinstance(bare, Primitive) and NUMBERS.get(bare.spelling) in ("signed", "unsigned"):
        return Primitive(bare.spelling, field.bit_size // 8)
    return None


def nameless(type: TypeRef) -> tuple[tuple[int | None, ...], Record | Enum] | None:
    """The anonymous type that ``type`` is, or is an array of, behind the array's bounds; ``None`` for other types."""
    bounds: list[int | None] = []
    while isinstance(type, Array | Qualified):
        if isinstance(type, Array):
            bounds.append(type.count)
            type = type.element
        else:
            type = type.target
    return (tuple(bounds), type.shape) if isinstance(type, Inline) else None


def told_by_parts(old: Field, new: Field) -> bool:
    """Whether both fields are of anonymous types whose members or enumerators can be compared one by one."""
    before, after = nameless(old.type), nameless(new.type)
    if before is None or after is None or before[0] != after[0] or _sort(before[1]) != _sort(after[1]):
        return False
    return not before[0] or before[1].size == after[1].size


def _sort(shape: Record | Enum) -> str:
    return "enum" if isinstance(shape, Enum) else "union" if shape.sort == "union" else "struct"
