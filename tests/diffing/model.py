"""Short ways to write snapshots for tests of the comparison."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.model.declarations import SELF, Name
from abistore.model.shapes import (
    AnyShape,
    Array,
    Field,
    Function,
    Library,
    Named,
    Pointer,
    Primitive,
    Qualified,
    Record,
    Symbol,
    TypeRef,
)
from abistore.model.snapshot import Evidence, Snapshot, Target

TARGET = Target("elf", "x86_64", 64, "little")
CHAR, INT, UNSIGNED, LONG = (
    Primitive("char", 1),
    Primitive("int", 4),
    Primitive("unsigned int", 4),
    Primitive("long", 8),
)
VOID, LONG_LONG, FLOAT, DOUBLE = (
    Primitive("void", 0),
    Primitive("long long", 8),
    Primitive("float", 4),
    Primitive("double", 8),
)
CODE = Symbol("function")
LIBRARY = Library("shared")


def record(spelling: str) -> Name:
    return Name("record", spelling)


def function(spelling: str) -> Name:
    return Name("function", spelling)


def alias(spelling: str) -> Name:
    return Name("alias", spelling)


def to(target: TypeRef | Name) -> Pointer:
    return Pointer(Named(target) if isinstance(target, Name) else target)


def const(target: TypeRef) -> Qualified:
    return Qualified(target, ("const",))


def struct(*types: TypeRef, names: str = "abcdefgh", sort: str = "struct", size: int | None = None) -> Record:
    """A struct of scalars, pointers and arrays of them, each aligned to its own size."""
    fields, end = [], 0
    for name, each in zip(names, types, strict=False):
        width, count = (8, 1) if isinstance(each, Pointer) else _width(each)
        end = -(-end // width) * width
        fields.append(Field(name, each, end * 8))
        end += width * count
    return Record("struct", size or end, tuple(fields))


def _width(each: TypeRef) -> tuple[int, int]:
    if isinstance(each, Array) and isinstance(each.element, Primitive):
        return each.element.size, each.count or 0
    return (each.size, 1) if isinstance(each, Primitive) else (8, 1)


def snapshot(
    layout: Mapping[Name, AnyShape | tuple[AnyShape, ...]],
    *,
    state: str = "full",
    symbols: Mapping[Name, Symbol] | None = None,
    library: Library = LIBRARY,
) -> Snapshot:
    """A snapshot that exports the functions of ``layout``, or ``symbols``."""
    exports = {name: CODE for name in layout if name.kind == "function"} if symbols is None else symbols
    entries = {
        "symbol": {**{name: (symbol,) for name, symbol in exports.items()}, SELF: (library,)},
        "layout": {name: shape if isinstance(shape, tuple) else (shape,) for name, shape in layout.items()},
    }
    if state == "missing":
        del entries["layout"]
    evidence = (Evidence("symbol", "full"), Evidence("layout", state, "" if state == "full" else f"{state}-debug-info"))
    return Snapshot("lib", None, TARGET, entries, evidence)


def uses(*types: TypeRef, result: TypeRef = VOID) -> Function:
    return Function("use", result, types)
