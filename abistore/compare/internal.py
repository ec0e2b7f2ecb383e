"""Which exports no consumer can name, because only a source file of the library defines their class."""

from __future__ import annotations

from pathlib import PurePosixPath

from abistore.compare.entities import CLASS_DATA, entity
from abistore.compare.exposure import HEADERS, SOURCES, SYSTEM
from abistore.model.demangle import demangle
from abistore.model.names import Name
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot


class Internals:
    """The classes of one side that stand in source files.

    A member function can only be called where its class is defined, and nobody includes a source file. Where no header
    of the library defines a type, nothing is known: the library may be one file made of all.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._layout = snapshot.entries.get("layout", {})
        files = {name: place.file for name, place in snapshot.locations.items() if name.kind in ("record", "enum")}
        headers = any(_is_own_header(file) for file in files.values())
        self._classes = frozenset(name for name, file in files.items() if headers and _suffix(file) in SOURCES)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a member of such a class, or its vtable or type information."""
        if not self._classes:
            return False
        if export.spelling.startswith(CLASS_DATA):
            return Name("record", entity(demangle(export.spelling))) in self._classes
        owners = [
            shape.method.owner if isinstance(shape, Function) and shape.method else getattr(shape, "owner", None)
            for shape in self._layout.get(export, ())
            if isinstance(shape, Function | Variable)
        ]
        return bool(owners) and all(owner in self._classes for owner in owners)


def _suffix(file: str) -> str:
    return PurePosixPath(file).suffix.lower()


def _is_own_header(file: str) -> bool:
    return _suffix(file) in HEADERS and SYSTEM.match(file) is None
