"""Private members that programs cannot use: no inline function of their class is known that could use them for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from abistore.compare.consumers.header_clues import HeaderClues
from abistore.compare.reuse.carrying import take_on
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import scope
from abistore.model.names import EXPORTS, Name


class PrivateMembers:
    """The private members among the exports, and the inline functions that may use them.

    Built programs have a copy of every inline function that they use, and so call what it calls. The copies that the
    library exports tell which classes have inline functions::

        class Log { void grow(); public: void add(int x) { if (full()) grow(); ... } };

    So are the members of a private nested class, to which the functions of the class around it have access.

    A virtual function is in the vtables of derived classes, which programs have, whatever its access is. Copies of
    destructors, copies and assignments are left out: compilers make them for most classes.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues
        self.closed = ClosedTypes(clues)

    def take_on(self, before: PrivateMembers) -> None:
        """Take what was worked out for a release before that has the same clues."""
        take_on(self, before)
        take_on(self.closed, before.closed)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a private member, and no inline function is known to have access to it."""
        declared = self._clues.names[export]
        if not declared.strong:
            return False
        emitted = class_behind(export.spelling)
        owners = [Name("record", emitted)] if emitted else [owner for owner in declared.owners if owner]
        if not owners or not (declared.private or all(owner in self.closed for owner in owners)):
            return False
        return not any(each in self._inlined for owner in owners for each in self._with_access(owner))

    def _with_access(self, owner: Name) -> Iterator[str]:
        """The classes whose members have access to ``owner``: itself and, of a closed one, those around it."""
        yield owner.spelling
        while owner in self.closed and (around := scope(owner.spelling)):
            owner = Name("record", around)
            yield around

    @cached_property
    def _inlined(self) -> frozenset[str]:
        """The classes to which an exported copy of an inline function has access.

        A member has it to its class and to the classes around that; any other function may be a friend of what it
        takes.
        """
        found: set[str] = set()
        for name in self._clues.names:
            if self._clues.names[name].inline:
                owners = self._clues.names[name].owners
                if any(owners) and all(owner in self.closed for owner in owners):
                    continue  # only who has access to the class can call it
                taken = (each for each in self._clues.mentioned(name) if each.kind == "record")
                for owner in owners if any(owners) else taken:
                    found.update(_around(owner))
        return frozenset(found)


class ClosedTypes:
    """The nested types to which only the members and friends of the class around them have access.

    A program needs no name for what it is given::

        class List { struct Node { int next(); }; public: Node &first(); };    // list.first().next()

    So a type is open where an export that is not private mentions it, or something that such an export leads to, other
    than by private members. Instances of templates with a closed argument are as closed as that.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues

    def __contains__(self, type: object) -> bool:
        return type in self._closed

    @cached_property
    def _closed(self) -> frozenset[Name]:
        said = {name for name, types in self._clues.types.items() if types and all(type.closed for type in types)}
        if not said:
            return frozenset()
        closed = said | set(self._instances(said))
        exports = {name for name in self._clues.names if name.kind in EXPORTS and not self._clues.names[name].private}
        pending, shown = list[Name](), set[Name]()
        while True:
            ready = {name for name in exports if closed.isdisjoint(filter(None, self._clues.names[name].owners))}
            exports -= ready
            pending += ready
            while pending:
                come = {*self._shown(pending.pop())} - shown
                shown |= come
                pending += come
            if not ready:
                return frozenset(closed - shown)
            closed -= shown

    def _instances(self, closed: set[Name]) -> Iterator[Name]:
        for name, types in self._clues.types.items():
            if any(not closed.isdisjoint(type.arguments) for type in types):
                yield name

    def _shown(self, name: Name) -> Iterator[Name]:
        """What who has ``name`` has too."""
        if name not in self._clues.parts:
            return
        for part in self._clues.parts[name]:
            yield from part.shows if part.shows is not None else (each for each, _ in part.mentions)


def _around(owner: Name | None) -> Iterator[str]:
    """The class and every scope around it."""
    spelling = owner.spelling if owner else ""
    while spelling:
        yield spelling
        spelling = scope(spelling)
