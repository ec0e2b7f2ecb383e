"""Functions and variables that headers define and no library exports: each program has its own, or none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.parts import UnexportedDeclaration
from abistore.model.declared import Declared
from abistore.model.deltas import Changed, Delta, Subject
from abistore.model.names import Name
from abistore.model.shapes import VOID, AnyShape, Function, Variable


def is_unexported(context: Context, name: Name) -> bool:
    """Whether neither release exports ``name``: an inline function, a template, a constant."""
    sides = (context.old, context.new)
    known = all("symbol" in side.snapshot.entries for side in sides)
    return known and not any(side.variants("symbol", name) for side in sides)


def unexported(name: Name, old: AnyShape, new: AnyShape) -> Iterator[Delta[Any]]:
    """Deltas of what no program calls or reads in the library: its type concerns sources only.

    The rest, such as its access, concerns sources whether or not it is exported.
    """
    types = _types(old), _types(new)
    if type(old) is type(new) and types[0] != types[1]:
        yield Changed(Subject(name), UnexportedDeclaration(name, old), UnexportedDeclaration(name, new))
    before, after = _without_types(old), _without_types(new)
    if before != after and type(before) is type(after) and not isinstance(before, Declared):
        yield Changed(Subject(name), before, after)


def _types(shape: AnyShape) -> tuple[object, ...]:
    match shape:
        case Function():
            return shape.result, shape.parameters, shape.variadic, shape.calling_convention
        case Variable():
            return (shape.type,)
        case _:
            return ()


def _without_types(shape: AnyShape) -> AnyShape:
    match shape:
        case Function():
            return msgspec.structs.replace(shape, result=VOID, parameters=(), variadic=False, calling_convention=None)
        case Variable():
            return msgspec.structs.replace(shape, type=VOID)
        case _:
            return shape
