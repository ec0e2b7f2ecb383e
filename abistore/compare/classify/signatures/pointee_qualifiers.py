"""Which qualifiers came and went behind the pointers of a type, level by level."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.parameter_types import TypeDifference, difference
from abistore.compare.context import Context
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Pointer, TypeRef


def const_gained(old: TypeRef, new: TypeRef, context: Context) -> int:
    """The deepest level that is ``const`` now: 1 is what a pointer points to. 0 if none is, or another no longer is."""
    levels = [("const" in before, "const" in after) for before, after in _pairs(old, new, context)]
    if any(before and not after for before, after in levels):
        return 0
    return max((level for level, (before, after) in enumerate(levels, 1) if after and not before), default=0)


def points_to_const(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether a pointer leads to what is ``const`` now, and differs in nothing else: every argument converts to it."""
    qualified = difference(old, new, context) is TypeDifference.POINTEE_QUALIFIERS
    return qualified and const_gained(old, new, context) == 1


def only_lost(old: TypeRef, new: TypeRef, context: Context) -> int:
    """The deepest level that has fewer qualifiers now; 0 if none has, or another one has more."""
    levels = list(_pairs(old, new, context))
    if any(after - before for before, after in levels):
        return 0
    return max((level for level, (before, after) in enumerate(levels, 1) if before - after), default=0)


def _pairs(old: TypeRef, new: TypeRef, context: Context) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    return zip(_levels(old, context.old.types), _levels(new, context.new.types), strict=False)


def _levels(type: TypeRef, side: TypeSide) -> Iterator[frozenset[str]]:
    """The qualifiers of what is behind each level of pointers, from the outermost one on; ``restrict`` is of none."""
    bare, _ = side.bare(type)
    while isinstance(bare, Pointer):
        bare, qualifiers = side.bare(bare.target)
        yield qualifiers - {"restrict"}
