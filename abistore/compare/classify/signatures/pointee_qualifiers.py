"""Which qualifiers were added and removed behind the pointers of a type, level by level."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Pointer, TypeRef


def loses_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has fewer qualifiers now."""
    return any(before - after for before, after in _pairs(old, new, context))


def gains_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has more qualifiers now."""
    return any(after - before for before, after in _pairs(old, new, context))


def _pairs(old: TypeRef, new: TypeRef, context: Context) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    return zip(_levels(old, context.old.types), _levels(new, context.new.types), strict=False)


def _levels(type: TypeRef, side: TypeSide) -> Iterator[frozenset[str]]:
    """The qualifiers of what is behind each level of pointers, from the outermost one on; ``restrict`` is of none."""
    bare, _ = side.bare(type)
    while isinstance(bare, Pointer):
        bare, qualifiers = side.bare(bare.target)
        yield qualifiers - {"restrict"}
