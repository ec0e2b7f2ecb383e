"""Where a record has room for a further field without moving another: padding, and fields reserved for later use."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from abistore.compare.types.reserved_fields import is_reserved
from abistore.model.layout.layouts import Layouts
from abistore.model.shapes import Array, Field, Pointer, Primitive, Record, TypeRef


class Room(msgspec.Struct, frozen=True, order=True):
    """Bits of a record that no program uses. ``field`` is the reserved field that takes them; empty for padding.

    ``offset`` and ``length`` are in bits.
    """

    offset: int
    length: int
    field: str = ""

    def __str__(self) -> str:
        what = f"the reserved field {self.field}" if self.field else "padding"
        return f"{self.length // 8} bytes of {what} at offset {self.offset // 8}"


def rooms(record: Record, layouts: Layouts) -> tuple[Room, ...]:
    """All room in ``record``, by offset. A union has none: its members share all of it."""
    if record.sort == "union":
        return ()
    padding = (Room(hole.offset, hole.length) for hole in layouts.holes(record) if hole.length >= 8)
    reserved = (
        Room(field.offset, 8 * size, field.name)
        for field in record.fields
        if is_reserved(field) and field.bit_size is None and (size := layouts.size(field.type))
    )
    return tuple(sorted((*padding, *reserved)))


def placed(record: Record, fields: Sequence[Field], layouts: Layouts) -> Record | None:
    """``record`` with further fields in its room, none of the others moved; ``None`` where they do not fit."""
    found = record
    for field in fields:
        taken = next((each for room in rooms(found, layouts) if (each := _put(found, field, room, layouts))), None)
        if taken is None:
            return None
        found = taken
    return found


def _put(record: Record, field: Field, room: Room, layouts: Layouts) -> Record | None:
    size, alignment = layouts.size(field.type), layouts.alignment(field.type)
    if not size or not alignment or field.bit_size is not None:
        return None
    offset = -(-room.offset // (8 * alignment)) * 8 * alignment
    end = offset + 8 * size
    if end > room.offset + room.length:
        return None
    rest = _without(record, room, offset, end, layouts)
    if rest is None:
        return None
    fields = sorted((*rest, replace(field, offset=offset)), key=lambda each: each.offset)
    return replace(record, fields=tuple(fields))


def _without(record: Record, room: Room, start: int, end: int, layouts: Layouts) -> Sequence[Field] | None:
    """The fields of ``record``, the reserved one cut to what is left of it; ``None`` where it cannot be cut."""
    if not room.field:
        return record.fields
    reserved = next(each for each in record.fields if each.name == room.field and each.offset == room.offset)
    others = [each for each in record.fields if each is not reserved]
    left = room.offset + room.length - end
    if start != room.offset:
        return None
    if not left:
        return others
    rest = _cut(reserved.type, left, layouts)
    return None if rest is None else [*others, replace(reserved, type=rest, offset=end)]


def _cut(type: TypeRef, bits: int, layouts: Layouts) -> TypeRef | None:
    """A type of the same elements with so many bits."""
    if not isinstance(type, Array) or not isinstance(type.element, Primitive | Pointer):
        return None
    element = 8 * (layouts.size(type.element) or 0)
    return None if not element or bits % element else replace(type, count=bits // element)


def appended(record: Record, fields: Sequence[Field], layouts: Layouts) -> Record | None:
    """``record`` with further fields behind all others, as a compiler lays them out; ``None`` where it is not known."""
    if record.sort == "union" or any(field.bit_size is not None for field in fields):
        return None
    end, alignment = _end(record, layouts), layouts.record_alignment(record)
    added: list[Field] = []
    for field in fields:
        size, wanted = layouts.size(field.type), layouts.alignment(field.type)
        if not size or not wanted:
            return None
        offset = -(-end // (8 * wanted)) * 8 * wanted
        added.append(replace(field, offset=offset))
        end, alignment = offset + 8 * size, max(alignment, wanted)
    size = -(-end // (8 * alignment)) * alignment
    return replace(record, fields=(*record.fields, *added), size=max(size, record.size))


def _end(record: Record, layouts: Layouts) -> int:
    """The bit behind the last member."""
    tail = next((hole.offset for hole in layouts.holes(record) if hole.tail), None)
    return 8 * record.size if tail is None else tail
