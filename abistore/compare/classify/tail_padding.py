"""Whether other data may lie in the padding at the end of a record: all but plain old data lend theirs."""

from __future__ import annotations

from typing import Final, Literal

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.deltas import Changed
from abistore.model.layout.tails import is_open_by_parts
from abistore.model.names import Name
from abistore.model.shapes import Array, Function, Named, Pointer, Record, TypeRef

DEEPEST: Final = 8
"""How far members are followed into what they are made of."""


def lends_tail(name: Name, record: Record, side: SideFacts, depth: int = DEEPEST) -> bool:
    """Whether derived classes and ``[[no_unique_address]]`` members may lie in a record's tail padding.

    So it is for all but plain old data (Itanium C++ ABI, 2.2 and 2.4): what has bases, virtual functions, members that
    are not public, constructors that somebody wrote, or a member that is no plain old data itself.
    """
    return tail(name, record, side, depth) == "open"


def tail(name: Name, record: Record, side: SideFacts, depth: int = DEEPEST) -> Literal["open", "closed"] | None:
    """The tail padding of a record; ``None`` where the evidence does not tell that nobody uses it."""
    if is_open_by_parts(record) or _is_open_by_headers(name, side):
        return "open"
    if record.tail is not None:
        return record.tail
    if _is_constructed(name, side) or any(_lends(each.type, side, depth) for each in record.fields):
        return "open"
    return None


def _is_open_by_headers(name: Name, side: SideFacts) -> bool:
    """Whether headers show what debug information does not: the values that members begin with."""
    return any(isinstance(each, Record) and each.tail == "open" for each in side.variants("source", name))


def _is_constructed(name: Name, side: SideFacts) -> bool:
    """Whether a class has a constructor that somebody wrote."""
    written = (each.method for shapes in side.tables.constructors(name).values() for each in shapes)
    return any(each is not None and not (each.defaulted or each.deleted) for each in written)


def _lends(type: TypeRef, side: SideFacts, depth: int) -> bool:
    bare, _ = side.types.bare(type)
    if isinstance(bare, Array):
        return depth > 0 and _lends(bare.element, side, depth - 1)
    shape = side.shape(bare.name) if isinstance(bare, Named) and depth else None
    return isinstance(bare, Named) and isinstance(shape, Record) and lends_tail(bare.name, shape, side, depth - 1)


def tails(record: Changed[Record], context: Context) -> tuple[str, str] | None:
    """What both sides do with the tail padding of a record that has any, where both tell and they differ."""
    old, new, name = record.old, record.new, record.subject.name
    if record.within is not None or "union" in (old.sort, new.sort) or old.size != new.size:
        return None
    sides = (old, context.old), (new, context.new)
    if not all(any(hole.tail for hole in side.types.layouts.holes(each)) for each, side in sides):
        return None
    before, after = (tail(name, each, side) for each, side in sides)
    return (before, after) if before is not None and after is not None and before != after else None


def library_writes(name: Name, context: Context) -> bool:
    """Whether exports get objects of a class that they may write whole, as ``this`` or by a pointer or reference."""
    shapes = (context.old.shape(each) for each in context.affected(name))
    return any(isinstance(each, Function) and _writes(each, name, context.old) for each in shapes)


def _writes(function: Function, name: Name, side: SideFacts) -> bool:
    method = function.method
    if method is not None and method.owner == name and not method.static and "const" not in method.qualifiers:
        return True
    return any(_is_written(each, name, side) for each in function.parameters)


def _is_written(type: TypeRef, name: Name, side: SideFacts) -> bool:
    pointer, _ = side.types.bare(type)
    if not isinstance(pointer, Pointer):
        return False
    target, qualifiers = side.types.bare(pointer.target)
    return target == Named(name) and "const" not in qualifiers
