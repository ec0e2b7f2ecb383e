"""Which objects have fields that nobody sets: those that programs make by code compiled with the old header."""

from __future__ import annotations

from abistore.compare.classify.making.returned import is_only_returned
from abistore.compare.context import Context
from abistore.compare.diff.headers.constructed import library_constructs
from abistore.compare.side import SideFacts
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Record


def programs_make(record: Changed[Record], context: Context) -> bool:
    """Whether the library may be handed objects of the old ``record`` that programs made without its help.

    They do not where the library allocates each object, nobody hands one back, or each is made by a constructor that
    both releases export: the new one sets new fields, too.
    """
    name = record.subject.name
    if context.old.consumers.library_allocates(name) and not _may_be_constructed(name, context.old):
        return False
    return not is_only_returned(name, context) and not library_constructs(record, context)


def _may_be_constructed(name: Name, side: SideFacts) -> bool:
    """Whether a class may have constructors in its header, which no symbol and no signature tells.

    A struct without member functions is made as signatures tell, as in C.
    """
    return bool(side.tables.methods(name)) and not side.consumers.offers(name)
