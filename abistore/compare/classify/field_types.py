"""How a field's type differs from its old one: exactly one of these, so that one rule reports it."""

from __future__ import annotations

from enum import Enum, auto

from abistore.compare.classify.field_places import FieldStorage, extent
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.context import Context
from abistore.compare.types.fields import InnerField, as_member, flat_fields, plain, told_by_parts
from abistore.compare.types.reserved_fields import is_reserved
from abistore.compare.types.sameness import Sameness
from abistore.compare.types.type_side import TypeSide
from abistore.model.deltas import Changed, Removed
from abistore.model.shapes import Array, Field, TypeRef


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
    from abistore.compare.classify.conversion import is_exchangeable, serves  # few fields change

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
