"""Who misses the virtual functions that were appended to a class."""

from __future__ import annotations

from typing import Literal, TypeAlias

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.vtables import PURE, VirtualTables, same_method
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import VTABLE, class_symbol
from abistore.model.names import Name
from abistore.model.shapes import Record
from abistore.model.tables import Symbol

Growth: TypeAlias = Literal["open", "by cast", "unreached", "closed"]
"""What becomes of programs where a class got slots.

``closed``: no program derives from the class. ``open``: the library may call a new slot on an object of a class that a
program derives. ``unreached``: it gets no such object; ``by cast``: unless it casts what it gets as a base.
"""


def growth(owner: Name, context: Context) -> Growth:
    """What the slots that a class got mean, where it kept all others; ``open`` where it did not.

    A table of its own is longer in the new library than in programs that make objects of the class, or that have parts
    of it for further bases. So a class that programs do derive from is abstract, and has one table.
    """
    before, after = (side.types.shape(owner) for side in (context.old, context.new))
    if not isinstance(before, Record) or not isinstance(after, Record):
        return "open"
    if not _keeps(before, context.old.tables, after, context.new.tables):
        return "open"
    if not context.old.tables.may_be_derived_from(owner) or _is_final(owner, context):
        return "closed"
    if not _tells_slots(before, context.old.tables) or not _tells_slots(after, context.new.tables):
        return "open"
    if not all(_is_abstract(owner, side) for side in (context.old, context.new)):
        return "open"
    if not (context.old.tables.has_one_table(before) and context.new.tables.has_one_table(after)):
        return "open"
    chance = context.old.consumers.hand_in(owner)
    return "open" if chance == "yes" else "unreached" if chance == "no" else "by cast"


def _is_final(owner: Name, context: Context) -> bool:
    """Whether headers say that nobody derives from a class, of which only the library has the vtable."""
    if not any(isinstance(each, Declared) and "final" in each.traits for each in context.old.variants("source", owner)):
        return False
    table = Name("variable", class_symbol(VTABLE, owner.spelling))
    return context.exported(table) and context.old.consumers.owner(table, context.new.exporting, gone=False) == "own"


def _keeps(before: Record, old: VirtualTables, after: Record, new: VirtualTables) -> bool:
    slots = new.slots(after)
    return all(slot in slots and same_method(method, slots[slot]) for slot, method in old.slots(before).items())


def _tells_slots(record: Record, tables: VirtualTables) -> bool:
    """Whether each function's slot is known: a compiler may leave out that of one that overrides another."""
    inherited = tables.inherited(record).values()
    return all(own.slot is not None or any(same_method(own, each) for each in inherited) for own in record.virtuals)


def _is_abstract(owner: Name, side: SideFacts) -> bool:
    """Whether nobody makes objects of the class itself, as headers, debug information or its table in the file tell."""
    for shape in side.variants("source", owner):
        if isinstance(shape, Declared) and "abstract" in shape.traits:
            return True
    record = side.types.shape(owner)
    if isinstance(record, Record) and any(method.pure for method in side.tables.slots(record).values()):
        return True
    tables = side.variants("symbol", Name("variable", class_symbol(VTABLE, owner.spelling)))
    return any(isinstance(each, Symbol) and not PURE.isdisjoint(each.table) for each in tables)
