"""Whether other data may lie in the padding at the end of a record: all but plain old data lend theirs."""

from __future__ import annotations

from typing import Final

from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.shapes import Array, Named, Record, TypeRef

DEEPEST: Final = 8
"""How far members are followed into what they are made of."""


def lends_tail(name: Name, record: Record, side: SideFacts, depth: int = DEEPEST) -> bool:
    """Whether derived classes and ``[[no_unique_address]]`` members may lie in a record's tail padding.

    So it is for all but plain old data (Itanium C++ ABI, 2.2 and 2.4): what has bases, virtual functions, members that
    are not public, constructors that somebody wrote, or a member that is no plain old data itself.
    """
    if any(field.access != "public" for field in record.fields):
        return True
    if record.bases or record.virtuals or record.has_vptr or record.passing == "reference":
        return True
    return _is_constructed(name, side) or any(_lends(each.type, side, depth) for each in record.fields)


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
