"""What compilers emit for a class besides its members: tables, type information, thunks."""

from __future__ import annotations

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity, scope
from abistore.model.mangling.symbols import CLASS_DATA, OF_CLASS


def class_behind(symbol: str) -> str:
    """The class that ``symbol`` is emitted for, as ``geo::Shape`` for ``_ZTVN3geo5ShapeE``; empty for any other."""
    if not symbol.startswith(OF_CLASS):
        return ""
    subject = entity(demangle(symbol))
    return subject if symbol.startswith(CLASS_DATA) else scope(subject)
