"""How one parameter or result type differs from another: exactly one of these, so that one rule reports it."""

from __future__ import annotations

from enum import Enum, auto

from abistore.compare.context import Context
from abistore.compare.types.sameness import FLOATS, Sameness
from abistore.compare.types.type_side import TypeSide
from abistore.model.cpp_names.qualified import UNTOLD_CLOSURE
from abistore.model.shapes import Named, Pointer, Primitive, Procedure, Qualified, TypeRef

VA_LIST = frozenset({"va_list", "__va_list", "__builtin_va_list", "__gnuc_va_list", "__va_list_tag", "std::__va_list"})


class TypeDifference(Enum):
    """What differs between two types at one place of a signature.

    ``SPELLING``: another name of the same type. ``REPRESENTATION``: another type of the same bits.
    ``REINTERPRETED``: the same bits with another meaning.
    ``POINTER_LEVEL``: ``int`` became ``int *``, or the reverse. ``TEMPLATE_ARGUMENT``: ``list<A>`` became ``list<B>``.
    ``VOID_TO_VALUE``: a result that callers of the old function do not look at. ``OTHER``: callers and the function
    disagree.
    """

    NONE = auto()
    SPELLING = auto()
    REPRESENTATION = auto()
    RESTRICT = auto()
    POINTEE_QUALIFIERS = auto()
    VA_LIST_GAINED = auto()
    VA_LIST_LOST = auto()
    REINTERPRETED = auto()
    POINTER_LEVEL = auto()
    TEMPLATE_ARGUMENT = auto()
    VOID_TO_VALUE = auto()
    LONG_DOUBLE = auto()
    OTHER = auto()


VA_LISTS = {
    (False, True): TypeDifference.VA_LIST_GAINED,
    (True, False): TypeDifference.VA_LIST_LOST,
    (True, True): TypeDifference.SPELLING,
}
"""By whether the old and the new type are the platform's argument list."""


def difference(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    """How a value passed or returned as ``old`` differs from one as ``new``."""
    return TypeDifference.NONE if old == new else context.once(_difference, old, new)


def _difference(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    lists = _is_va_list(old, context.old.types), _is_va_list(new, context.new.types)
    if any(lists):
        return VA_LISTS[lists]
    same = context.passed(old, new)
    if same is Sameness.QUALIFIERS or (
        same <= Sameness.QUALIFIERS and _without_restrict(old) == _without_restrict(new)
    ):
        return _qualifiers(old, new)
    if same < Sameness.REINTERPRETED:
        if _is_other_object(old, new, context):
            return TypeDifference.OTHER
        return TypeDifference.SPELLING if same <= Sameness.SPELLING else TypeDifference.REPRESENTATION
    return TypeDifference.REINTERPRETED if same is Sameness.REINTERPRETED else _different(old, new, context)


def _is_other_object(old: TypeRef, new: TypeRef, context: Context) -> bool:
    if any("source" not in side.snapshot.entries for side in (context.old, context.new)):
        return False  # headers alone tell whose a declaration is
    from abistore.compare.classify.signatures.handles_of_others import is_of_third_library  # few types change

    return is_of_third_library(old, new, context)


def _qualifiers(old: TypeRef, new: TypeRef) -> TypeDifference:
    if _without_restrict(old) == _without_restrict(new):
        return TypeDifference.RESTRICT
    return TypeDifference.POINTEE_QUALIFIERS


def _without_restrict(type: TypeRef) -> TypeRef:
    match type:
        case Qualified(target, qualifiers):
            left = tuple(each for each in qualifiers if each != "restrict")
            inner = _without_restrict(target)
            return Qualified(inner, left) if left else inner
        case Pointer(target, sort):
            return Pointer(_without_restrict(target), sort)
        case _:
            return type


def _different(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    old_levels, old_base = context.old.types.levels(old)
    new_levels, new_base = context.new.types.levels(new)
    if (
        isinstance(old_base, Primitive)
        and old_base.spelling == "void"
        and not old_levels
        and _in_register(new, context)
    ):
        return TypeDifference.VOID_TO_VALUE
    functions = isinstance(old_base, Procedure) or isinstance(new_base, Procedure)
    if old_levels != new_levels and not functions and context.stored(old_base, new_base) <= Sameness.QUALIFIERS:
        return TypeDifference.POINTER_LEVEL
    if old_levels == new_levels and _are_long_doubles(old_base, new_base):
        return TypeDifference.LONG_DOUBLE
    if old_levels == new_levels and isinstance(old_base, Named) and isinstance(new_base, Named):
        template = old_base.name.spelling.partition("<")[0]
        if "<" in old_base.name.spelling and new_base.name.spelling.startswith(f"{template}<"):
            may_be_one = _may_be_one(old_base, new_base, context)
            return TypeDifference.SPELLING if may_be_one else TypeDifference.TEMPLATE_ARGUMENT
    return TypeDifference.OTHER


def _may_be_one(old: Named, new: Named, context: Context) -> bool:
    """Whether one instance has a closure among its arguments of which a compiler told nothing, and the sizes agree."""
    if not any(UNTOLD_CLOSURE in each.name.spelling for each in (old, new)):
        return False
    sizes = {context.old.types.layouts.size(old), context.new.types.layouts.size(new)}
    return len(sizes - {None}) < 2


def _are_long_doubles(old: TypeRef, new: TypeRef) -> bool:
    if not (isinstance(old, Primitive) and isinstance(new, Primitive)):
        return False
    return old.spelling == new.spelling and old.spelling.endswith("long double")


def _in_register(type: TypeRef, context: Context) -> bool:
    """Whether a result of ``type`` comes back in a register, where a caller that expects nothing does not miss it."""
    bare, _ = context.new.types.bare(type)
    if isinstance(bare, Named):
        return bare.name.kind == "enum"
    if context.new.snapshot.target.machine == "i386" and isinstance(bare, Primitive) and bare.spelling in FLOATS:
        return False  # comes back on the x87 stack, which the caller does not clear
    return isinstance(bare, Pointer) or (isinstance(bare, Primitive) and 0 < bare.size <= 8)


def _is_va_list(type: TypeRef, side: TypeSide) -> bool:
    """Whether ``type`` is the platform's argument list, as compilers record it: an alias, or its inner record."""
    for _ in range(4):
        if isinstance(type, Named) and type.name.spelling in VA_LIST:
            return True
        type = side.resolve(type)
        if isinstance(type, Pointer | Qualified):
            type = type.target
    return False
