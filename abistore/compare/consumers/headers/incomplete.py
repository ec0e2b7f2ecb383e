"""Functions that no program can call, as they pass by value what public headers only declare."""

from __future__ import annotations

from collections.abc import Callable

from abistore.compare.types.type_side import TypeSide
from abistore.model.names import Name
from abistore.model.shapes import Function, Named, TypeRef
from abistore.model.snapshot import Variants


def is_uncallable(shapes: Variants, types: TypeSide, is_hidden: Callable[[Name], bool]) -> bool:
    """Whether a function returns or takes by value a class that ``is_hidden`` from programs.

    A call is ill-formed then (C++ [expr.call], C17 6.5.2.2). A virtual function is called through its slot: who
    overrides it is not known.
    """
    shape = next((each for each in shapes if isinstance(each, Function)), None)
    if shape is None or shape.is_virtual:
        return False
    return any(_is_of(each, types, is_hidden) for each in (shape.result, *shape.parameters))


def _is_of(type: TypeRef, types: TypeSide, is_hidden: Callable[[Name], bool]) -> bool:
    bare, _ = types.bare(type)
    return isinstance(bare, Named) and bare.name.kind == "record" and is_hidden(bare.name)
