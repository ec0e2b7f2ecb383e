"""Classes that are defined somewhere, as their members or tables show, and whose layout the evidence leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.types.vtables import VirtualTables
from abistore.model.mangling.symbols import TYPEINFO, VTABLE, class_symbol
from abistore.model.names import Name
from abistore.model.shapes import Function, Opaque
from abistore.model.snapshot import Snapshot

TABLES = (TYPEINFO, VTABLE)


def undescribed_classes(tables: VirtualTables) -> frozenset[Name]:
    """The classes of one side that are only declared in the debug information, although headers define them.

    Compilers leave the definition of a class with a vtable out where another unit is to emit the vtable, and none may
    be. A class that has members or a table cannot be only declared.
    """
    snapshot = tables.side.snapshot
    layout, symbols = snapshot.entries.get("layout", {}), snapshot.entries.get("symbol", {})
    declared = (
        name
        for name, shapes in layout.items()
        if name.kind == "record" and all(isinstance(shape, Opaque) for shape in shapes)
    )
    return frozenset(
        name
        for name in declared
        if any(Name("variable", symbol) in symbols for symbol in _tables_of(name)) or tables.methods(name)
    )


def may_be_undescribed(snapshot: Snapshot, name: Name) -> bool:
    """Whether ``name`` is such a class, or what tells of one: a member, a table, type information."""
    if name.kind == "variable":
        return name.spelling.startswith(TABLES)
    shapes = snapshot.variants("layout", name)
    if name.kind == "function":
        return any(isinstance(shape, Function) and shape.method is not None for shape in shapes)
    return name.kind == "record" and any(isinstance(shape, Opaque) for shape in shapes)


def _tables_of(name: Name) -> Iterator[str]:
    """The symbols of a class's vtable and type information; none for a template, whose name is mangled otherwise."""
    if "<" in name.spelling or "(" in name.spelling:
        return
    yield from (class_symbol(prefix, name.spelling) for prefix in TABLES)
