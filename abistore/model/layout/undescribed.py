"""Classes that are defined somewhere, as members, tables or uses show, and whose layout the evidence leaves out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from abistore.model.mangling.symbols import TYPEINFO, VTABLE, class_symbol, member_prefixes
from abistore.model.names import Name
from abistore.model.shapes import Function, Opaque
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.words.counting import counted

UNDESCRIBED_HINT: Final = "build with -femit-class-debug-always (GCC) or -fstandalone-debug (Clang)"

TABLES = (TYPEINFO, VTABLE)


def undescribed_classes(snapshot: Snapshot, has_methods: Callable[[Name], bool]) -> frozenset[Name]:
    """The classes that are only declared in the debug information, although headers define them.

    Compilers leave the definition of a class with a vtable out where another unit is to emit the vtable, and none may
    be. A class that has members or a table cannot be only declared. What another library defines is left to that.
    """
    declared = declared_only(snapshot)
    shown = [name for name, shapes in declared.items() if any(_is_defined(shape) for shape in shapes)]
    symbols = snapshot.entries.get("symbol", {})
    exported = {
        name
        for name in declared
        if any(Name("variable", symbol) in symbols for symbol in _tables_of(name)) or has_methods(name)
    }
    return frozenset({*exported, *own_classes(shown, snapshot)})


def declared_only(snapshot: Snapshot) -> Mapping[Name, Variants]:
    """The classes and handles that the debug information declares and does not describe."""
    return {
        name: shapes
        for name, shapes in snapshot.entries.get("layout", {}).items()
        if name.kind == "record" and all(isinstance(shape, Opaque) for shape in shapes)
    }


def methods_in(snapshot: Snapshot) -> Callable[[Name], bool]:
    """Whether the debug information describes member functions of a class that the library exports."""

    @cache
    def owners() -> frozenset[Name]:
        functions = (each for shapes in snapshot.entries.get("layout", {}).values() for each in shapes)
        return frozenset(each.method.owner for each in functions if isinstance(each, Function) and each.method)

    return lambda name: name in owners()


def may_be_undescribed(snapshot: Snapshot, name: Name) -> bool:
    """Whether ``name`` is such a class, or what tells of one: a member, a table, type information, an import."""
    if name.kind == "variable":
        return name.spelling.startswith(TABLES)
    if name.kind == "import":
        return True
    shapes = snapshot.variants("layout", name)
    if name.kind == "function":
        return any(isinstance(shape, Function) and shape.method is not None for shape in shapes)
    return name.kind == "record" and any(isinstance(shape, Opaque) for shape in shapes)


def told_undescribed(names: Collection[Name]) -> str:
    """The sentence about such classes."""
    return f"the debug information only declares {counted(len(names), 'class', 'classes')} with members or tables"


def _is_defined(shape: object) -> bool:
    return isinstance(shape, Opaque) and shape.defined


def own_classes(names: Collection[Name], snapshot: Snapshot) -> Iterator[Name]:
    """Those of ``names`` of which the library imports neither a member nor a table: no other library defines them."""
    symbols = snapshot.entries.get("symbol", {}) if names else {}
    imports = sorted(each.spelling for each in symbols if each.kind == "import")
    for name in names:
        tables = tuple(_tables_of(name))
        asked = (*tables, *(member_prefixes(tables[-1]) if tables else ()))
        if not any(_has_prefix(imports, each) for each in asked):
            yield name


def _has_prefix(sorted_names: Sequence[str], prefix: str) -> bool:
    """Whether one of the names begins so; the first that does stands where the prefix would."""
    at = bisect_left(sorted_names, prefix)
    return any(each.startswith(prefix) for each in sorted_names[at : at + 1])


def _tables_of(name: Name) -> Iterator[str]:
    """The symbols of a class's vtable and type information; none for a template, whose name is mangled otherwise."""
    if "<" in name.spelling or "(" in name.spelling:
        return
    yield from (class_symbol(prefix, name.spelling) for prefix in TABLES)
