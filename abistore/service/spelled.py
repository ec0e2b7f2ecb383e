"""What a programmer calls a declaration whose name is the linker's."""

from __future__ import annotations

from collections.abc import Iterable

from abistore.model.demangle import demangle_all
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Function, Variable
from abistore.model.snapshot import Snapshot

LINKED = frozenset({"function", "variable", "import"})


def displays(snapshot: Snapshot, names: Iterable[Name]) -> dict[Name, str]:
    """How a programmer calls each name: demangled, or as the debug information has it."""
    wanted = list(names)
    demangled = demangle_all([name.spelling for name in wanted if name.kind in LINKED])
    return {name: _display(name, demangled, snapshot.variants("layout", name)) for name in wanted}


def display(name: Name, shapes: Iterable[AnyShape]) -> str:
    """How a programmer calls one name whose ``shapes`` are known."""
    demangled = demangle_all([name.spelling]) if name.kind in LINKED else {}
    return _display(name, demangled, shapes)


def _display(name: Name, demangled: dict[str, str], shapes: Iterable[AnyShape]) -> str:
    spelling = demangled.get(name.spelling, name.spelling)
    if spelling == name.spelling:
        for shape in shapes:
            if isinstance(shape, Function | Variable):
                return shape.display
    return spelling or "the library"
