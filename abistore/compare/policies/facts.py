"""What policies and suppressions may ask about a finding."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from abistore.compare.context import Context
from abistore.compare.rule import Rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import entity, scope
from abistore.model.findings import Finding
from abistore.model.names import TYPES, Name
from abistore.model.snapshot import Variants


class FindingFacts:
    """One finding, its rule, and the two snapshots that it is about."""

    def __init__(self, finding: Finding, rule: Rule, context: Context) -> None:
        self.finding = finding
        self.rule = rule
        self.context = context

    def about(self, name: Name) -> FindingFacts:
        """The same finding about one of the declarations that it affects."""
        return FindingFacts(msgspec.structs.replace(self.finding, name=name), self.rule, self.context)

    def at(self, name: Name) -> FindingFacts:
        """The same about another declaration of the old side, with the place of that."""
        location = self.context.old.snapshot.locations.get(name)
        found = msgspec.structs.replace(self.finding, name=name, location=location)
        return FindingFacts(found, self.rule, self.context)

    @cached_property
    def is_type(self) -> bool:
        """Whether the finding is about a type, and not about an export or the library."""
        return self.finding.name.kind in TYPES

    @cached_property
    def demangled(self) -> str:
        """The declaration as a programmer calls it, with its parameters."""
        return self.finding.name.spelling if self.is_type else demangle(self.finding.name.spelling)

    @cached_property
    def qualified(self) -> str:
        """The declaration's qualified name; for a vtable or typeinfo that of its class."""
        return self.demangled if self.is_type else entity(self.demangled)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """What an export may be called: as the linker, or as a programmer does, with and without its parameters."""
        if self.is_type or not self.finding.name.spelling:
            return ()
        return tuple(dict.fromkeys((self.finding.name.spelling, self.demangled, self.qualified)))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The type that the finding is about; for a vtable, typeinfo or thunk the class that it belongs to."""
        found = self.qualified if self.is_type else class_behind(self.finding.name.spelling)
        return (found,) if found else ()

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """The namespaces and classes around the declaration, innermost first."""
        return scopes_of(self.qualified)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file that declares it, as recorded and by its name alone; empty where that is not known."""
        location = self.finding.location
        return (location.file, PurePosixPath(location.file).name) if location else ()

    @cached_property
    def layouts(self) -> tuple[Variants, Variants]:
        """What the old and the new side say about the declaration."""
        name = self.finding.name
        return self.context.old.snapshot.described(name), self.context.new.snapshot.described(name)

    @property
    def shapes(self) -> Variants:
        """What either side says about the declaration."""
        return (*self.layouts[0], *self.layouts[1])

    @cached_property
    def reached_by(self) -> tuple[Name, ...]:
        """What the old side's headers declare that programs compile with it: code that uses it, or has its layout.

        Of a type that is also what takes or returns it by value.
        """
        name, side = self.finding.name, self.context.old
        if not self.is_type:
            return tuple(side.consumers.callers_of(name))
        declared = (each for each in self.by_value_users if side.variants("source", each))
        return tuple(sorted({*side.consumers.compilers_of(name), *declared}))

    @cached_property
    def by_value_users(self) -> tuple[Name, ...]:
        """The old side's exports through which consumers hold objects of the type itself."""
        return self.context.old.reach.exports_reaching(self.finding.name, by_value=True) if self.is_type else ()


def scopes_of(qualified: str) -> tuple[str, ...]:
    """The namespaces and classes around a qualified name, innermost first."""
    found = []
    while qualified := scope(qualified):
        found.append(qualified)
    return tuple(found)
