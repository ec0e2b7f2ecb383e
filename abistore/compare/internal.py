"""Which exports no consumer can name, because only a source file of the library defines their class."""

from __future__ import annotations

import re
from posixpath import splitext

from abistore.compare.entities import CLASS_DATA, entity
from abistore.model.demangle import demangle
from abistore.model.names import Name
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot

SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm"})
"""Suffixes of files that nobody includes."""

HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tcc"})

SYSTEM = re.compile(r"/usr/|<")
"""Where files begin that are no part of the library."""


class Internals:
    """The classes of one side that stand in source files.

    A member function can only be called where its class is defined, and nobody includes a source file. Where no header
    of the library defines a type, nothing is known: the library may be one file made of all.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._layout = snapshot.entries.get("layout", {})
        files = {name: place.file for name, place in snapshot.locations.items() if name.kind in ("record", "enum")}
        known = set(files.values())
        sources = {file for file in known if is_source(file)} if any(map(is_own_header, known)) else frozenset[str]()
        self.classes = frozenset(name for name, file in files.items() if file in sources)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a member of such a class, or its vtable or type information."""
        if not self.classes:
            return False
        if export.spelling.startswith(CLASS_DATA):
            return Name("record", entity(demangle(export.spelling))) in self.classes
        owners = [
            shape.method.owner if isinstance(shape, Function) and shape.method else getattr(shape, "owner", None)
            for shape in self._layout.get(export, ())
            if isinstance(shape, Function | Variable)
        ]
        return bool(owners) and all(owner in self.classes for owner in owners)


def is_source(file: str) -> bool:
    """Whether nobody includes ``file``."""
    return splitext(file)[1].lower() in SOURCES


def is_own_header(file: str) -> bool:
    """Whether ``file`` is a header of the library and not of the system."""
    return splitext(file)[1].lower() in HEADERS and SYSTEM.match(file) is None
