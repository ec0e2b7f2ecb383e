"""Which records may change their size without consumers that hold them noticing."""

from __future__ import annotations

import re

from abistore.compare.context import Context
from abistore.compare.types.fields import flat_fields, plain
from abistore.model.deltas import Changed
from abistore.model.shapes import Array, Field, Pointer, Primitive, Record

GUARD = (
    r"(?i)_*(cb|(cb|dw)_?size|(size|sizeof|length|len)_?(of_?)?(this_?)?(struct|self)"
    r"|(struct|self|structure)_?(size|len|length))_*"
)
"""A first field of such a name holds the size that the record had when its user was compiled."""

BLOCK = re.compile(
    r"(?:^|_|(?<=[a-z]))((?i:args|arguments|params|parameters|opts|options|attrs?|attributes|settings))_*[st]?$"
)
"""The last word of the name of a record in which a caller gives a function what it wants, before ``_t`` or ``_s``."""

MASK = r"(?i)_*(fields?|valid|comp|attrs?|attributes?|values?|members?)_?(mask|bits)_*"
"""A field of such a name tells by its bits which others its user has set, or wants to get."""


def grows_safely(record: Changed[Record], context: Context) -> bool:
    """Whether no consumer depends on the size.

    The library allocates each object, callers tell what theirs hold, or unions have the room.
    """
    name = record.subject.name
    if context.old.consumers.library_allocates(name):
        return not context.old.consumers.gets_arrays(name)
    from abistore.compare.classify.union_room import has_room_in_unions  # few records grow

    if has_room_in_unions(record, context):
        return True
    if context.old.consumers.hold(name) or record.old.sort == "union" or record.new.size <= record.old.size:
        return False
    if is_guarded(record, context) or is_masked(record, context):
        return True
    from abistore.compare.classify.read_by_length import is_read_by_length  # few records grow

    return is_read_by_length(record, context)


def is_guarded(record: Changed[Record], context: Context) -> bool:
    """Whether the record holds the size that it had when its user was compiled, and holds it where it did.

    It begins with such a field, or has one called after itself: ``args_size`` in ``struct ring_open_args``. Beside a
    field ``args``, or a pointer ``args_data``, that would be the size of what lies there.
    """
    before, after = (list(map(plain, flat_fields(each))) for each in (record.old, record.new))
    found = [field for field in before if field.offset == 0 and re.fullmatch(GUARD, field.name)]
    block = BLOCK.search(record.subject.name.spelling)
    if block is not None and not any(_is_sized(each, block[1], context) for each in before):
        found += [field for field in before if re.fullmatch(_own_size(block[1]), field.name)]
    kept = {(field.name, field.offset) for field in after}
    return any(_is_number(field, context) and (field.name, field.offset) in kept for field in found)


def _own_size(block: str) -> str:
    """The names of a field for the size of a record whose name ends in ``block``; a length is of what it holds."""
    return rf"(?i)_*({block}_*(size|sizeof)|(size|sizeof)_*(of_*)?{block})_*"


def _is_sized(field: Field, word: str, context: Context) -> bool:
    """Whether a field of a record is called ``word``, or leads to what is: such a size may be that of this."""
    if field.name.strip("_").lower() == word.lower():
        return True
    leads = isinstance(context.old.types.bare(field.type)[0], Pointer | Array)
    return leads and word.lower() in field.name.lower()


def is_masked(record: Changed[Record], context: Context) -> bool:
    """Whether users tell by bits which fields they know, and each that came has a new bit that is called after it.

    So ``node_id`` comes with ``PARAM_FIELD_NODE_ID`` for ``uint64_t field_mask``: nobody built before sets that.
    """
    before = {plain(field).name: plain(field) for field in flat_fields(record.old)}
    if not any(re.fullmatch(MASK, name) and _is_number(field, context) for name, field in before.items()):
        return False
    come = [name for field in flat_fields(record.new) if (name := plain(field).name) not in before]
    old, new = context.old.enumerators, context.new.enumerators
    bits = [name.spelling.lower() for name, bit in new.items() if bit.bit_count() == 1 and bit > 0 and name not in old]
    return bool(come) and all(any(bit.endswith(f"_{name.lower()}") for bit in bits) for name in come)


def _is_number(field: Field, context: Context) -> bool:
    return isinstance(context.old.types.bare(field.type)[0], Primitive)
