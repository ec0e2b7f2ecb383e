"""Which types functions return arrays of, as the names of parameters tell: ``const struct info *infos(int *count)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from abistore.compare.types.mentions import COUNTS
from abistore.compare.types.type_side import TypeSide
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import Function, Named, Pointer, Primitive, Qualified, TypeRef
from abistore.model.snapshot import Variants
from abistore.patterns import pattern

COUNT: Final = pattern(
    r"(?!.*(?i:err|warn))(p?(n|num|nb|count|cnt)|(n|num|nb|number_of)_\w+|p?(n|num|nb)[A-Z]\w*|\w+_(count|cnt)|\w*Count)"
)
"""How parameters are called that tell how many there are. A length may be one of bytes, in a single record."""


def counted_results(source: Mapping[Name, Variants], types: TypeSide) -> frozenset[Name]:
    """The records of which functions return a pointer, and a number of them through a parameter that is called so."""
    return frozenset(
        record
        for name, shapes in source.items()
        if name.kind == "function"
        for shape in shapes
        if isinstance(shape, Function) and _tells_a_count(shape, shapes, types)
        for record in _pointed_at(shape.result, types)
    )


def _tells_a_count(function: Function, shapes: Variants, types: TypeSide) -> bool:
    written = next((each.parameters for each in shapes if isinstance(each, Declared)), ())
    return len(written) == len(function.parameters) and any(
        COUNT.fullmatch(argument.name) and _is_filled(type, types)
        for argument, type in zip(written, function.parameters, strict=True)
    )


def _is_filled(type: TypeRef, types: TypeSide) -> bool:
    """Whether a parameter is a pointer to an integer that the function may write."""
    bare = types.bare(type)[0]
    if not isinstance(bare, Pointer):
        return False
    number, qualifiers = types.bare(bare.target)
    return isinstance(number, Primitive) and number.spelling in COUNTS and "const" not in qualifiers


def _pointed_at(type: TypeRef, types: TypeSide) -> Iterator[Name]:
    """The record that a pointer leads to at once: one behind two pointers is an array of pointers."""
    bare = types.bare(type)[0]
    if isinstance(bare, Pointer):
        target = types.bare(bare.target)[0]
        while isinstance(target, Qualified):
            target = types.bare(target.target)[0]
        if isinstance(target, Named) and target.name.kind == "record":
            yield target.name
