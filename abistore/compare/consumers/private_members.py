"""Private members that programs cannot use: no inline function of their class is known that could use them for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from abistore.compare.consumers.header_clues import HeaderClues
from abistore.model.cpp_names.qualified import scope
from abistore.model.names import Name


class PrivateMembers:
    """The private members among the exports, and the inline functions that may use them.

    Built programs have a copy of every inline function that they use, and so call what it calls. The copies that the
    library exports tell which classes have inline functions::

        class Log { void grow(); public: void add(int x) { if (full()) grow(); ... } };

    A virtual function is in the vtables of derived classes, which programs have, whatever its access is. Copies of
    destructors, copies and assignments are left out: compilers make them for most classes.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a private member, and no inline function is known to have access to it."""
        declared = self._clues.names[export]
        if not declared.private or not declared.strong:
            return False
        return not any(owner.spelling in self._inlined for owner in declared.owners if owner)

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
                taken = (each for each in self._clues.mentioned(name) if each.kind == "record")
                for owner in owners if any(owners) else taken:
                    found.update(_around(owner))
        return frozenset(found)


def _around(owner: Name | None) -> Iterator[str]:
    """The class and every scope around it."""
    spelling = owner.spelling if owner else ""
    while spelling:
        yield spelling
        spelling = scope(spelling)
