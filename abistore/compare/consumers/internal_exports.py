"""Which exports no consumer can name: only a source file defines their class, or a header that is not public."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from abistore.compare.consumers.header_clues import HeaderClues
from abistore.compare.consumers.public_headers import PublicHeaders
from abistore.compare.reuse.carrying import take_on
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, plain_template
from abistore.model.mangling.symbols import LOCAL_CLASS_DATA, may_be_template
from abistore.model.names import Name
from abistore.model.words.files import is_own_header, is_source, may_be_private

UNNAMEABLE = ")::"
"""What the names of classes within a function (``run()::Own``) or an unnamed namespace contain."""


class InternalDeclarations:
    """What one side declares in files that its consumers cannot include.

    A member function can only be called where its class is defined, and nobody includes a source file. Where no header
    of the library defines a type, nothing is known: the library may be one file made of all. Which headers are not
    public, :class:`PublicHeaders` tells.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues
        self._files = clues.files
        self._surface = PublicHeaders(clues)

    def take_on(self, before: InternalDeclarations) -> None:
        """Take what was worked out for a release before that has the same clues and files."""
        take_on(self, before)
        take_on(self._surface, before._surface)

    @cached_property
    def concealed(self) -> frozenset[Name]:
        """Types defined in private headers."""
        surface = self._surface
        located = ((name, file) for name, file in self._files.items() if file in surface.unneeded)
        return frozenset(
            name
            for name, file in (located if surface.unneeded else ())
            if may_be_private(file) and (file in surface.hidden or surface.is_handle(name))
        )

    @cached_property
    def classes(self) -> frozenset[Name]:
        """The types that no consumer can include or name."""
        files = {name: file for name, file in self._files.items() if name.kind in ("record", "enum")}
        headers = any(map(is_own_header, set(files.values())))
        sourced = (name for name, file in files.items() if headers and is_source(file))
        unnameable = (name for name in self._clues.names if name.kind == "record" and UNNAMEABLE in name.spelling)
        return self._with_instances({*self.concealed, *sourced, *unnameable})

    def _with_instances(self, classes: set[Name]) -> frozenset[Name]:
        """``classes`` and the instances of templates with one of them for an argument, which nobody else can have."""
        instances = [
            (name, argument)
            for name, types in (self._clues.types.items() if classes else ())
            for type in types
            for argument in type.arguments
        ]
        while come := {name for name, argument in instances if argument in classes} - classes:
            classes |= come
        return frozenset(classes)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a member of such a class, its vtable or type information, or declared there itself.

        Nobody can name a class within a function, either; nor is anybody to use what stands in a private version node.
        """
        if self._clues.names[export].node:
            return True
        if export.spelling.startswith(LOCAL_CLASS_DATA):
            return True
        owners = self._owners(export)
        if all(map(self._may_be_concealed, owners)) and any(owners) and self.classes.issuperset(owners):
            return True
        if not any(owners) and self._is_instance(export):
            return True
        return self._surface.hides(export) and not (any(owners) and self.classes)

    def _owners(self, export: Name) -> Sequence[Name | None]:
        """The class that each description of ``export`` makes it a member of."""
        emitted = class_behind(export.spelling)
        return [Name("record", emitted)] if emitted else self._clues.names[export].owners

    def _may_be_concealed(self, owner: Name | None) -> bool:
        """Whether the class may be one of :attr:`classes`. Its own file rules out most, without these."""
        if owner is None:
            return False
        instance = any(type.foreign or type.arguments for type in self._clues.types[owner])
        return instance or may_be_private(self._files.get(owner, ""))

    def _is_instance(self, export: Name) -> bool:
        """Whether ``export`` is a function template's instance, no member, with one of :attr:`classes` for an argument.

        ``Walker *make<Walker>()`` can only be called where ``Walker`` is known.
        """
        if not may_be_template(export.spelling):
            return False
        _, arguments = plain_template(entity(demangle(export.spelling))) or ("", [])
        return any(Name(kind, each) in self.classes for each in arguments for kind in ("record", "enum"))

    def header(self, export: Name) -> str:
        """The header that is not public and declares ``export``, or its private version node; empty without either."""
        if node := self._clues.names[export].node:
            return f"version node {node}"
        emitted = class_behind(export.spelling)
        return self._surface.header(Name("record", emitted) if emitted else export)
