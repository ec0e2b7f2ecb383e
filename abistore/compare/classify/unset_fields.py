"""Which objects have fields that nobody sets: those that programs make by code compiled with the old header."""

from __future__ import annotations

from abistore.compare.context import Context
from abistore.model.deltas import Changed
from abistore.model.shapes import Record


def programs_make(record: Changed[Record], context: Context) -> bool:
    """Whether programs make objects of the old ``record`` themselves, and no function of the library sets them up.

    They do not where the library allocates each object, nor where programs call a constructor that both releases
    export: the new one sets new fields, too. A constructor in the header is compiled into programs.
    """
    name = record.subject.name
    if context.old.consumers.library_allocates(name):
        return False
    constructors = context.old.tables.constructors(name)
    return not any(context.exported(each) and not context.has_own_copy(each) for each in constructors)
