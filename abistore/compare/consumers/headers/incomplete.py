"""Functions that no program can call, as they pass what public headers only declare."""

from __future__ import annotations

from collections.abc import Callable

from abistore.compare.types.type_side import TypeSide
from abistore.model.names import Name
from abistore.model.shapes import Function, Named, Pointer, TypeRef
from abistore.model.snapshot import Variants


def is_uncallable(
    shapes: Variants, types: TypeSide, is_hidden: Callable[[Name], bool], is_withheld: Callable[[Name], bool]
) -> bool:
    """Whether a function passes by value a class that ``is_hidden``, or takes a reference to one that ``is_withheld``.

    The first call is ill-formed (C++ [expr.call], C17 6.5.2.2), for the second no program has an object. A pointer may
    be null. A virtual function is called through its slot: who overrides it is not known.
    """
    shape = next((each for each in shapes if isinstance(each, Function)), None)
    if shape is None or shape.is_virtual:
        return False
    if any(_is_of(each, types, is_hidden) for each in (shape.result, *shape.parameters)):
        return True
    return any(_refers_to(each, types, is_withheld) for each in shape.parameters)


def _is_of(type: TypeRef, types: TypeSide, has: Callable[[Name], bool]) -> bool:
    bare, _ = types.bare(type)
    return isinstance(bare, Named) and bare.name.kind == "record" and has(bare.name)


def _refers_to(type: TypeRef, types: TypeSide, has: Callable[[Name], bool]) -> bool:
    bare, _ = types.bare(type)
    return isinstance(bare, Pointer) and bare.sort != "*" and _is_of(bare.target, types, has)
