"""Where a new field is placed in its record, and how the type of a field differs."""

from __future__ import annotations

from enum import Enum, auto

from abistore.diffing.context import Context
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.types.mentions import is_reserved
from abistore.diffing.types.sameness import (
    Extent,
    Extents,
    InnerField,
    Sameness,
    TypeSide,
    as_member,
    flat_fields,
    plain,
    told_by_parts,
)
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.layout import Layouts
from abistore.model.shapes import Array, Field, Inline, Record, TypeRef


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
    from abistore.diffing.kinds.equivalent_declarations import lends_tail  # few records that grow have any

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


class FieldType(Enum):
    """What differs between a field's two types; qualifiers of the field itself have rules of their own.

    ``RESPELLED``: another name of the same type. ``CONVERTED``: another type of the same bits, which sources use as
    they did (``long`` and ``long long``). ``UNCONVERTED``: one that they cannot use so (``char *`` and ``void *``).
    ``FLEXIBLE``: a last array with another bound (``T x[]`` for ``T x[1]``). ``REINTERPRETED``: the same bits with
    another meaning (``int`` and ``unsigned``).
    """

    NONE = auto()
    RESPELLED = auto()
    CONVERTED = auto()
    UNCONVERTED = auto()
    FLEXIBLE = auto()
    REINTERPRETED = auto()
    DIFFERENT = auto()


def field_type(field: Changed[Field | InnerField], context: Context) -> FieldType:
    """How memory that was the old field can be used as the new one."""
    return context.once(_field_type, field)


def _field_type(field: Changed[Field | InnerField], context: Context) -> FieldType:
    old, new = plain(field.old), plain(field.new)
    whole = is_whole_member(field, context)
    if told_by_parts(old, new) or (old.type == new.type and not whole) or (is_reserved(old) and old.name != new.name):
        return FieldType.NONE
    found = _typed(field, context, whole=whole)
    if is_reserved(old):
        return found if found is FieldType.UNCONVERTED and not is_reserved(new) else FieldType.NONE
    return found


def _typed(field: Changed[Field | InnerField], context: Context, *, whole: bool) -> FieldType:
    old, new = plain(field.old), plain(field.new)
    before, own_before = unqualified(old.type, context.old.types)
    after, own_after = unqualified(new.type, context.new.types)
    if whole:
        before, after = as_member(old, context.old.types) or before, as_member(new, context.new.types) or after
    same = context.stored(before, after)
    if "atomic" in own_before ^ own_after:
        same = max(same, Sameness.REINTERPRETED)
    if same <= Sameness.SPELLING:
        only_qualified = not whole and (before == after or same is Sameness.IDENTICAL)
        return FieldType.NONE if only_qualified and _qualified_otherwise(field, context) else FieldType.RESPELLED
    if same <= Sameness.REPRESENTATION:
        return FieldType.CONVERTED if _is_usable(field, before, after, context) else FieldType.UNCONVERTED
    if _is_flexible(field, before, after, context):
        return FieldType.FLEXIBLE
    bits = same is Sameness.DIFFERENT and old.bit_size is not None and new.bit_size is not None
    if bits or same is Sameness.REINTERPRETED or context.equivalence.is_alternative(before, after):
        return FieldType.REINTERPRETED if _is_usable(field, before, after, context) else FieldType.UNCONVERTED
    return FieldType.DIFFERENT


def _is_usable(field: Changed[Field | InnerField], old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether sources write and read the field as they did; they cannot name one that was private."""
    from abistore.diffing.kinds.parameter_types import is_exchangeable, serves  # few fields change

    before, after = plain(field.old), plain(field.new)
    if before.access == "private" or only_named_otherwise(before.type, after.type, context):
        return True
    constant = "const" in qualifiers(field, context)[0]
    return (serves if constant else is_exchangeable)(field.subject.name, old, new, context)


def is_whole_member(field: Changed[Field | InnerField], context: Context) -> bool:
    """Whether a bit-field of whole bytes became an ordinary member of the same bits, or the other way."""
    old, new = plain(field.old), plain(field.new)
    if (old.bit_size is None) == (new.bit_size is None):
        return False
    before, after = as_member(old, context.old.types), as_member(new, context.new.types)
    return before is not None and after is not None and context.stored(before, after) < Sameness.DIFFERENT


def qualifiers(field: Changed[Field | InnerField], context: Context) -> tuple[frozenset[str], frozenset[str]]:
    """The qualifiers of the field itself, on both sides; an array's are those of its elements."""
    old = unqualified(plain(field.old).type, context.old.types)[1]
    return old, unqualified(plain(field.new).type, context.new.types)[1]


def unqualified(type: TypeRef, side: TypeSide) -> tuple[TypeRef, frozenset[str]]:
    """``type`` without the qualifiers of its own or its elements, and these qualifiers."""
    bare, found = side.bare(type)
    if isinstance(bare, Array):
        element, inner = unqualified(bare.element, side)
        return Array(element, bare.count, bare.vector), found | inner
    return bare, found


def is_reused(field: Removed[Field | InnerField], context: Context) -> bool:
    """Whether a new field lies where the removed one lay."""
    own = extent(plain(field.old), context.old.types.layouts)
    return field.within is not None and context.once(FieldStorage, field.within).come.meet(own)


def is_retired(field: Removed[Field | InnerField], context: Context) -> bool:
    """Whether room for later use took the whole place of the removed field, in a record that keeps its size."""
    if field.within is None or field.within.old.size != field.within.new.size:
        return False
    own = extent(plain(field.old), context.old.types.layouts)
    return context.once(FieldStorage, field.within).rooms.cover(own)


def _qualified_otherwise(field: Changed[Field | InnerField], context: Context) -> bool:
    old, new = qualifiers(field, context)
    return bool((old ^ new) & {"const", "volatile"})


def _is_flexible(field: Changed[Field | InnerField], old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the field is an array behind all others that declares its bound in another way."""
    if not (isinstance(old, Array) and isinstance(new, Array)) or old.vector or new.vector or field.within is None:
        return False
    if context.stored(old.element, new.element) > Sameness.REPRESENTATION or not {old.count, new.count} & {None, 0}:
        return False
    others = [plain(each) for each in flat_fields(field.within.new)]
    return all(each.offset <= plain(field.new).offset for each in others)
