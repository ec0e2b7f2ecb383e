"""Values of findings that mention types: as findings record them, and as C spells them for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from abistore.model.declarations import Name
from abistore.model.names import spelling
from abistore.model.names.spelling import Mention, bare
from abistore.model.shapes import AnyShape, Function, TypeRef


class Spelled(str):
    """A value in which types have bare names, and which can be made again with other mentions of them.

    The identity of a finding is of the bare names: whether a side tells its tags makes no difference.
    """

    make: Callable[[Mention], str]

    def __new__(cls, make: Callable[[Mention], str]) -> Spelled:
        """The value that ``make`` gives for bare names."""
        value = super().__new__(cls, make(bare))
        value.make = make
        return value

    def __add__(self, behind: str) -> Spelled:
        return Spelled(lambda mention: self.make(mention) + in_c(behind, mention))


def spell(type: TypeRef) -> Spelled:
    """A type without a declarator's name."""
    return Spelled(lambda mention: spelling.spell(type, mention))


def declare(type: TypeRef, name: str) -> Spelled:
    """``name`` declared with a type."""
    return Spelled(lambda mention: spelling.declare(type, name, mention))


def signature(shape: Function, *, c: bool = False) -> Spelled:
    """A function without what is before its result."""
    return Spelled(lambda mention: spelling.signature(shape, mention, c=c))


def declaration(name: Name, shape: AnyShape) -> Spelled:
    """A shape as the declaration of ``name``."""
    return Spelled(lambda mention: spelling.declaration(name, shape, mention=mention))


def listed(values: Iterable[str], separator: str = ", ") -> Spelled:
    """Values in one text."""
    every = tuple(values)
    return Spelled(lambda mention: separator.join(in_c(each, mention) for each in every))


def in_c(value: str, mention: Mention) -> str:
    """A value whose types are mentioned so; any text that is not :class:`Spelled` as it is."""
    return value.make(mention) if isinstance(value, Spelled) else value
