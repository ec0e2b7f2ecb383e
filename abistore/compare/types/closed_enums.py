"""Enumerations that no program was compiled with: private ones that the library's own code alone uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from abistore.compare.types.closed_classes import OPENING
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import AnyShape, Enum, Named, Record
from abistore.model.snapshot import Variants
from abistore.patterns import pattern

_WORD = pattern(r"[A-Za-z_]\w*")


class ClosedEnum:
    """A private enumeration in a class that headers define, and what these say of it::

        class Job { enum State { IDLE, BUSY }; State state; void set(State); public: Job(); bool is_busy() const; };

    Programs have none of its numbers where no code that they compile names it, has an object of it or uses a member of
    its type, and where only what is private mentions it. ``within`` are the declarations in the class, of which
    ``hidden`` ones are functions and variables of the library alone; ``used`` are the members, types and places of
    members that code in headers uses.
    """

    def __init__(self, type: Name, within: Mapping[Name, Variants], hidden: Collection[Name]) -> None:
        self._type = type
        self._within = within
        self._hidden = hidden

    def is_used(self, used: Collection[str]) -> bool:
        """Whether code in headers uses it, one of its enumerators, or a member of its type."""
        inside = f"{self._type.spelling}::"
        fields = set(self._fields())
        return any(each == self._type.spelling or each.startswith(inside) or each in fields for each in used)

    def is_shown(self) -> bool:
        """Whether programs meet it in what they can use: a function, a name for it, an initialiser, by friends."""
        return any(self._shows(name, shape) for name, shapes in self._within.items() for shape in shapes)

    def _fields(self) -> Iterator[str]:
        for name, shapes in self._within.items():
            for shape in shapes:
                if isinstance(shape, Record):
                    yield from (f"{name.spelling}::{each.name}" for each in shape.fields if each.type == self._named)

    @property
    def _named(self) -> Named:
        return Named(self._type)

    def _shows(self, name: Name, shape: AnyShape) -> bool:
        if isinstance(shape, Declared):
            return not OPENING.isdisjoint(shape.traits) or not self._words.isdisjoint(_words(shape))
        if name == self._type or name in self._hidden or all(each != self._type for each, _ in references(shape)):
            return False
        if not isinstance(shape, Record):
            return True
        private = sum(each.type == self._named and each.access == "private" for each in shape.fields)
        return private < sum(each == self._type for each, _ in references(shape))

    @property
    def _words(self) -> frozenset[str]:
        shapes = self._within.get(self._type, ())
        names = {each.name for shape in shapes if isinstance(shape, Enum) for each in shape.enumerators}
        return frozenset({last_component(self._type.spelling), *names})


def _words(text: Declared) -> Iterable[str]:
    """The words of what programs compile of a declaration beside bodies."""
    values = (text.value, *(value for _, value in text.expressions), *(each.default for each in text.parameters))
    return (word for value in values if value is not None for word in _WORD.findall(value))
