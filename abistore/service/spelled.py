"""Declarations as programmers call them, not the linker."""

from __future__ import annotations

from collections.abc import Iterable

from abistore.model.cpp_names.demangle import demangle
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Function, Variable
from abistore.model.words.nearness import did_you_mean, near_name
from abistore.report.wording import shortened

MATCHES_SHOWN = 5
LINKED = frozenset({"function", "variable", "import"})


def declarations_near(text: str, known: Iterable[str]) -> str:
    """The hint with the declarations that ``text`` probably means."""
    near = near_name(text, (shortened(one) or "" for one in known), MATCHES_SHOWN)
    return did_you_mean(near, "only exports and the types they reach are recorded")


def display(name: Name, shapes: Iterable[AnyShape]) -> str:
    """How a programmer calls one name whose ``shapes`` are known: demangled, or as the debug information has it."""
    spelling = demangle(name.spelling) if name.kind in LINKED else name.spelling
    if spelling == name.spelling:
        for shape in shapes:
            if isinstance(shape, Function | Variable):
                return shape.display
    return spelling or "the library"
