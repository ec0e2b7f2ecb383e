"""Fields that went and came as one piece of storage: fields that became an array, a record that became its members.

So are anonymous structs and unions that got a name, or lost the one they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.parts import FieldGroup
from abistore.compare.types.fields import InnerField, flat_fields, plain
from abistore.compare.types.reserved_fields import is_reserved
from abistore.compare.types.sameness import Sameness
from abistore.compare.types.scalars import Place, scalars
from abistore.model.layout.layouts import Layouts
from abistore.model.shapes import Field, Inline, Record, TypeRef
from abistore.model.snapshot import Snapshot


def regrouped(
    gone: Sequence[Field | InnerField], come: Sequence[Field | InnerField], context: Context
) -> Iterator[tuple[FieldGroup, FieldGroup]]:
    """Fields of the old side and those of the new one in their place, with the same scalars at the same offsets.

    A scalar may also have become room for later use; the reverse is a use of that room, and not told here.
    """
    old = [each for each in _whole(gone) if each.access != "private" and not is_reserved(each)]
    new = _whole(come)
    while old:
        before, after = [old.pop(0)], list[Field]()
        if not new:
            return
        while _take(old, before, after, context.old.types.layouts, context.new.types.layouts) | _take(
            new, after, before, context.new.types.layouts, context.old.types.layouts
        ):
            pass
        if len(before) + len(after) > 2 and after and _same_scalars(before, after, context):
            yield FieldGroup(tuple(before)), FieldGroup(tuple(after))


def _whole(fields: Sequence[Field | InnerField]) -> list[Field]:
    """The fields that are the record's own and no bit-fields, by place."""
    own = (each for each in fields if isinstance(each, Field) and each.bit_size is None)
    return sorted(own, key=lambda each: each.offset)


def _take(free: list[Field], group: list[Field], other: list[Field], layouts: Layouts, others: Layouts) -> bool:
    """Moves fields of ``free`` that share storage with one of ``other`` to ``group``; whether there were any.

    ``free`` is in the order of places.
    """
    lain = [_extent(field, others) for field in other]
    end = max((extent[1] for extent in lain), default=0)
    near = takewhile(lambda each: each.offset < end, free)
    taken = [each for each in near if any(_overlap(_extent(each, layouts), extent) for extent in lain)]
    for each in taken:
        free.remove(each)
        group.append(each)
    return bool(taken)


def _same_scalars(before: Sequence[Field], after: Sequence[Field], context: Context) -> bool:
    reserved = [_extent(each, context.new.types.layouts) for each in after if is_reserved(each)]
    old = _scalars(before, context.old.types.snapshot, context.old.types.layouts)
    new = _scalars(
        [each for each in after if not is_reserved(each)], context.new.types.snapshot, context.new.types.layouts
    )
    if old is None or new is None or not new:
        return False
    for place, scalar in old.items():
        if place in new:
            if context.stored(scalar, new.pop(place)) > Sameness.REPRESENTATION:
                return False
        elif not any(start <= place[0] < end for start, end in reserved):
            return False
    return not new


def _extent(field: Field, layouts: Layouts) -> tuple[int, int]:
    return field.offset, field.offset + 8 * (layouts.size(field.type) or 0)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _scalars(fields: Sequence[Field], snapshot: Snapshot, layouts: Layouts) -> dict[Place, TypeRef] | None:
    """The scalars that ``fields`` consist of by their place in the record, in bits; ``None`` where one is not known."""
    found: dict[Place, TypeRef] = {}
    for field in fields:
        parts = scalars(field.type, snapshot, layouts)
        if parts is None:
            return None
        found |= {(field.offset + place, width): scalar for (place, width), scalar in parts}
    return found


def named_as_whole(old: Record, new: Record, context: Context) -> Iterator[tuple[FieldGroup, FieldGroup]]:
    """The members of one side and the field of the other that holds all of them: ``union { int i; } u``."""
    for field, other in _pairs(old, new):
        if context.stored(field.type, other.type) <= Sameness.REPRESENTATION:
            before, after = _group(old, field), _group(new, other)
            if before.fields and after.fields:
                yield before, after


def _pairs(old: Record, new: Record) -> Iterator[tuple[Field, Field]]:
    """Fields of one place, one of which is anonymous and the other not, where no other field begins there."""
    places = {each.offset: each for each in new.fields} if old.sort != "union" else {}
    for field in old.fields:
        other = places.get(field.offset)
        if other is not None and _is_anonymous(field) != _is_anonymous(other) and other.bit_size is None:
            yield field, other


def _is_anonymous(field: Field) -> bool:
    return not field.name and isinstance(field.type, Inline) and isinstance(field.type.shape, Record)


def _group(record: Record, field: Field) -> FieldGroup:
    alone = msgspec.structs.replace(record, fields=(field,))
    return FieldGroup(tuple(plain(each) for each in flat_fields(alone)))
