"""Where a new field lies in its record: in free storage, at the end, or before others."""

from __future__ import annotations

from enum import Enum, auto

from abistore.compare.context import Context
from abistore.compare.types.extents import Extent, Extents
from abistore.compare.types.fields import InnerField, flat_fields, plain
from abistore.compare.types.reserved_fields import is_reserved
from abistore.model.deltas import Added, Changed
from abistore.model.layout.layouts import Layouts
from abistore.model.shapes import Array, Field, Inline, Record


class FieldPlace(Enum):
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


class FieldStorage:
    """How the fields of a record lie on both sides, as far as fields that come and go depend on it."""

    def __init__(self, record: Changed[Record], context: Context) -> None:
        before, after = context.old.types.layouts, context.new.types.layouts
        old, new = list(map(plain, flat_fields(record.old))), list(map(plain, flat_fields(record.new)))
        names, known = {each.name for each in new}, {each.name for each in old}
        kept = [extent(each, after) for each in new if each.name in known and not is_reserved(each)]
        self.kept = Extents(kept)
        self.end = max((end for _, end in kept), default=0)
        self.come = Extents(extent(each, after) for each in new if each.name not in known)
        self.rooms = Extents(extent(each, after) for each in new if is_reserved(each))
        reserved = [extent(each, before) for each in old if is_reserved(each)]
        reserved += [room for each in old if (room := _room(each, before)) is not None]
        holes = [each for each in before.holes(record.old) if not (each.tail and _is_lent(record, context))]
        self.removed = [(each.name, extent(each, before)) for each in old if each.name not in names]
        self.reserved = Extents(reserved)
        self.unused = Extents(
            [
                *reserved,
                *(lain for _, lain in self.removed),
                *((each.offset, each.offset + each.length) for each in holes),
            ]
        )


def _is_lent(record: Changed[Record], context: Context) -> bool:
    """Whether what lay in the padding at the end of the old record may be other data."""
    from abistore.compare.classify.tail_padding import lends_tail  # few records that grow have any

    return lends_tail(record.subject.name, record.old, context.old)


def place_of(added: Added[Field | InnerField], context: Context) -> FieldPlace:
    """Where the field that ``added`` brings lies among the fields that both sides have."""
    record = record_of(added)
    storage = context.once(FieldStorage, record)
    own = extent(plain(added.new), context.new.types.layouts)
    inner = isinstance(added.new, InnerField) and added.new.alternative
    if record.new.sort == "union" or (inner and storage.kept.meet(own)):
        return FieldPlace.ALTERNATIVE
    if own[0] >= storage.end and is_unbounded(plain(added.new)):
        return FieldPlace.FLEXIBLE
    if own[0] < own[1] and storage.unused.cover(own):
        return FieldPlace.RESERVED if storage.reserved.meet(own) else FieldPlace.FREE
    return FieldPlace.END if own[0] >= storage.end else FieldPlace.BETWEEN


def replaced_by(added: Added[Field | InnerField], context: Context) -> tuple[str, ...]:
    """The removed fields whose storage, or some of it, the field that ``added`` brings takes."""
    start, end = extent(plain(added.new), context.new.types.layouts)
    removed = context.once(FieldStorage, record_of(added)).removed
    return tuple(name for name, (first, last) in removed if first < end and start < last)


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
