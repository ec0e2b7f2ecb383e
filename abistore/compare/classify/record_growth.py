"""Which records may change their size without consumers that hold them noticing."""

from __future__ import annotations

import re

from abistore.compare.context import Context
from abistore.compare.types.fields import flat_fields, plain
from abistore.model.deltas import Changed
from abistore.model.shapes import Primitive, Record

GUARD = (
    r"(?i)_*(cb|(cb|dw)_?size|(size|sizeof|length|len)_?(of_?)?(this_?)?(struct|self)"
    r"|(struct|self|structure)_?(size|len|length))_*"
)
"""A first field of such a name holds the size that the record had when its user was compiled."""


def grows_safely(record: Changed[Record], context: Context) -> bool:
    """Whether no consumer depends on the size: the library allocates each object, or callers tell it their size."""
    name = record.subject.name
    if context.old.consumers.library_allocates(name):
        return not context.old.consumers.gets_arrays(name)
    return not context.old.consumers.hold(name) and is_guarded(record, context)


def is_guarded(record: Changed[Record], context: Context) -> bool:
    """Whether the record begins with its own size, and grew."""
    first = next((plain(field) for field in flat_fields(record.old) if plain(field).offset == 0), None)
    grew = record.new.size > record.old.size
    if first is None or record.old.sort == "union" or not re.fullmatch(GUARD, first.name):
        return False
    number, _ = context.old.types.bare(first.type)
    return grew and isinstance(number, Primitive)
