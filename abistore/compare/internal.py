"""Which exports no consumer can name: only a source file defines their class, or a header that is not public."""

from __future__ import annotations

from typing import Any

from abistore.compare.entities import CLASS_DATA, entity, scope
from abistore.compare.parts import InternalExport, UndeclaredExport
from abistore.compare.surface import Surface
from abistore.model.deltas import Changed, Subject
from abistore.model.demangle import demangle
from abistore.model.files import is_own_header, is_source
from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Foreign, Function, Named, Qualified, Variable
from abistore.model.snapshot import Snapshot

COMPILED = (*CLASS_DATA, "_ZTh", "_ZTv", "_ZTc")
"""Prefixes of what compilers emit for a class: its data, and entry points that adjust ``this`` or the result."""


class Internals:
    """What one side declares in files that its consumers cannot include.

    A member function can only be called where its class is defined, and nobody includes a source file. Where no header
    of the library defines a type, nothing is known: the library may be one file made of all. Which headers are not
    public, :class:`Surface` tells.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._layout = snapshot.entries.get("layout", {})
        self._surface = Surface(snapshot)
        files = {name: place.file for name, place in snapshot.locations.items() if name.kind in ("record", "enum")}
        headers = any(is_own_header(file) for file in files.values())
        hidden = self._surface.hidden
        self.concealed = frozenset(name for name, file in files.items() if file in hidden)
        sourced = (name for name, file in files.items() if headers and is_source(file))
        self.classes = self._with_instances({*self.concealed, *sourced})

    def _with_instances(self, classes: set[Name]) -> frozenset[Name]:
        """``classes`` and the standard library's templates of them, which nobody else can have."""
        instances = [
            (name, each.name)
            for name, shapes in (self._layout.items() if classes else ())
            for shape in shapes
            for argument in (shape.arguments if isinstance(shape, Foreign) else ())
            if isinstance(each := argument.target if isinstance(argument, Qualified) else argument, Named)
        ]
        while come := {name for name, argument in instances if argument in classes} - classes:
            classes |= come
        return frozenset(classes)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a member of such a class, its vtable or type information, or declared there itself."""
        if not self.classes:
            return bool(self._surface.hidden) and self._surface.hides(export)
        if export.spelling.startswith(COMPILED):
            return _compiled_for(export) in self.classes
        owners = [
            shape.method.owner if isinstance(shape, Function) and shape.method else getattr(shape, "owner", None)
            for shape in self._layout.get(export, ())
            if isinstance(shape, Function | Variable)
        ]
        if not any(owners):
            return self._surface.hides(export)
        return all(owner in self.classes for owner in owners)

    def header(self, export: Name) -> str:
        """The header that is not public and declares ``export``; empty where none does."""
        return self._surface.header(_compiled_for(export) if export.spelling.startswith(COMPILED) else export)

    def changed(self, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
        """The delta of an export that no consumer can name."""
        header = self.header(export)
        if header:
            return Changed(
                Subject(export), UndeclaredExport(export, old, header), UndeclaredExport(export, new, header)
            )
        return Changed(Subject(export), InternalExport(export, old), InternalExport(export, new))


def _compiled_for(export: Name) -> Name:
    """The class of a vtable, of type information, or of an entry point that adjusts ``this``."""
    subject = entity(demangle(export.spelling))
    return Name("record", subject if export.spelling.startswith(CLASS_DATA) else scope(subject))
