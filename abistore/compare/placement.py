"""Where a new field lies among what its record had before: in free storage, at the end, or in the way of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto

from abistore.compare.context import Context
from abistore.compare.members import flat_fields, plain
from abistore.compare.parts import InnerField
from abistore.compare.reserved import is_reserved
from abistore.model.deltas import Added, Changed
from abistore.model.layout import Layouts
from abistore.model.shapes import Array, Field, Inline, Record

Extent = tuple[int, int]
"""The first bit of some storage and the first behind it."""


class Place(Enum):
    """Where a new field lies.

    ``ALTERNATIVE``: over others in a union. ``RESERVED``: in storage that was kept for it. ``FREE``: in padding, or
    where only removed fields lay. ``FLEXIBLE``: an array without a bound behind all others. ``END``: behind all others.
    ``BETWEEN``: anywhere else.
    """

    ALTERNATIVE = auto()
    RESERVED = auto()
    FREE = auto()
    FLEXIBLE = auto()
    END = auto()
    BETWEEN = auto()


def place_of(added: Added[Field | InnerField], context: Context) -> Place:
    """Where the field that ``added`` brings lies among the fields that both sides have."""
    record = record_of(added)
    layouts = context.equivalence.new_side.layouts
    own = extent(plain(added.new), layouts)
    kept = [extent(each, layouts) for each in _kept(record)]
    if _is_alternative(added, record, own, kept):
        return Place.ALTERNATIVE
    if own[0] >= max((end for _, end in kept), default=0) and is_unbounded(plain(added.new)):
        return Place.FLEXIBLE
    free = _in_storage_of_old(own, record, context)
    if free is not None:
        return free
    return Place.END if own[0] >= max((end for _, end in kept), default=0) else Place.BETWEEN


def record_of(part: Added[Field | InnerField] | Changed[Field | InnerField]) -> Changed[Record]:
    """The change of the record whose field this is."""
    if part.within is None:
        raise ValueError(f"{part.subject} is not a part of a record")
    return part.within


def extent(field: Field, layouts: Layouts) -> Extent:
    """The bits that ``field`` takes; one bit where its size is not known."""
    if field.bit_size is not None:
        return field.offset, field.offset + field.bit_size
    size = layouts.size(field.type)
    if size is None:
        return field.offset, field.offset + (0 if is_unbounded(field) else 1)
    return field.offset, field.offset + 8 * size


def is_unbounded(field: Field) -> bool:
    """Whether ``field`` is an array that declares no elements: ``T x[]``, ``T x[0]``."""
    return isinstance(field.type, Array) and not field.type.count and not field.type.vector


def overlaps(one: Extent, other: Extent) -> bool:
    """Whether two extents share a bit."""
    return one[0] < other[1] and other[0] < one[1]


def _kept(record: Changed[Record]) -> Iterator[Field]:
    """The new side's fields that the old side has too, room for later use left out."""
    names = {plain(each).name for each in flat_fields(record.old)}
    for each in flat_fields(record.new):
        if plain(each).name in names and not is_reserved(plain(each)):
            yield plain(each)


def _is_alternative(
    added: Added[Field | InnerField], record: Changed[Record], own: Extent, kept: Iterable[Extent]
) -> bool:
    if record.new.sort == "union":
        return True
    inner = isinstance(added.new, InnerField) and added.new.alternative
    return inner and any(overlaps(own, each) for each in kept)


def _in_storage_of_old(own: Extent, record: Changed[Record], context: Context) -> Place | None:
    """Whether the old record had nothing where ``own`` is, and what kind of nothing."""
    layouts = context.equivalence.old_side.layouts
    names = {plain(each).name for each in flat_fields(record.new)}
    fields = [plain(each) for each in flat_fields(record.old)]
    reserved = [extent(each, layouts) for each in fields if is_reserved(each)]
    reserved += [room for each in fields if (room := _room(each, layouts)) is not None]
    removed = [extent(each, layouts) for each in fields if each.name not in names]
    holes = layouts.holes(record.old)
    padding = [(each.offset, each.offset + each.length) for each in holes if not each.tail or not _lends_tail(record)]
    if not _covered(own, [*reserved, *removed, *padding]):
        return None
    return Place.RESERVED if any(overlaps(own, each) for each in reserved) else Place.FREE


def _room(field: Field, layouts: Layouts) -> Extent | None:
    """What only an alternative that is room for later use takes of a field that is a union without a name."""
    if not isinstance(field.type, Inline) or not isinstance(field.type.shape, Record):
        return None
    union = field.type.shape
    if union.sort != "union" or field.bit_size is not None:
        return None
    used = max((extent(each, layouts)[1] for each in union.fields if not is_reserved(each)), default=0)
    room = max((extent(each, layouts)[1] for each in union.fields if is_reserved(each)), default=0)
    return (field.offset + used, field.offset + room) if used < room else None


def _lends_tail(record: Changed[Record]) -> bool:
    """Whether derived classes and ``[[no_unique_address]]`` members may lie in the record's tail padding.

    So it is for all but plain old data (Itanium C++ ABI, 2.2 and 2.4).
    """
    old = record.old
    hidden = any(field.access != "public" for field in old.fields)
    return bool(old.bases or old.virtuals or old.has_vptr or hidden or old.passing == "reference")


def _covered(own: Extent, storage: Iterable[Extent]) -> bool:
    reached = own[0]
    for start, end in sorted(storage):
        if start <= reached < end:
            reached = end
    return reached >= own[1] > own[0]
