"""Base classes of classes that both sides have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from abistore.compare.context import Context
from abistore.compare.diff.inherited_fields import inherited_fields, other_bases
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.compare.types.fields import flat_fields, plain
from abistore.compare.types.vtables import DEEPEST, VirtualTables
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.mangling.symbols import TYPEINFO
from abistore.model.names import Name
from abistore.model.shapes import WIDTH, Base, Record, TypeRef

Subobject: TypeAlias = tuple[TypeRef, int | None]
"""A base class and where it lies in the whole object, in bits; ``None`` for a virtual base."""

MOST_SUBOBJECTS = 10_000
"""More base classes than any compiled class has. In a damaged file their number may double with each level."""


def listed(record: Record) -> str:
    """The bases of ``record`` as a class declares them."""
    return ", ".join(f"{each.access} {'virtual ' * each.virtual}{spell(each.type)}" for each in record.bases) or "none"


def _subobjects(record: Record, tables: VirtualTables, start: int = 0, depth: int = 0) -> Iterator[Subobject]:
    """All base classes in an object, direct and indirect. Those within a virtual base have no fixed place."""
    for base in record.bases:
        type, _ = tables.side.bare(base.type)
        offset = None if base.offset is None else start + base.offset
        yield type, offset
        found = tables.record(base)
        if found is not None and depth < DEEPEST and offset is not None:
            yield from _subobjects(found[1], tables, offset, depth + 1)


def _places(record: Record, tables: VirtualTables) -> frozenset[Subobject] | None:
    """Where the base classes of an object lie; ``None`` where it has more of them than any program could hold."""
    found = tuple(islice(_subobjects(record, tables), MOST_SUBOBJECTS + 1))
    return frozenset(found) if len(found) <= MOST_SUBOBJECTS else None


def _takes_no_room(base: Subobject, record: Record, tables: VirtualTables) -> bool:
    """Whether ``base`` of ``record`` is empty: as it is described, or since a member lies in its only byte.

    Types of the standard library, such as ``std::iterator``, are known by their size alone.
    """
    type, offset = base
    if _is_empty(type, tables):
        return True
    shared = any(field.offset == offset for field in record.fields)
    return shared and tables.record(Base(type, 0)) is None and tables.side.layouts.size(type) == 1


def _is_empty(type: TypeRef, tables: VirtualTables) -> bool:
    """Whether a base of ``type`` takes no room: neither it nor a base of it has data members or a vtable."""
    seen: set[TypeRef] = set()
    pending = [type]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        found = tables.record(Base(each, 0))
        if found is None or found[1].size != 1 or found[1].fields or tables.is_polymorphic(found[1]):
            return False
        pending += [base.type for base in found[1].bases]
    return True


def _is_in_class(base: Subobject, record: Changed[Record], context: Context) -> bool:
    """Whether the new class itself has each field of a former ``base`` where it lay; the base had no vtable."""
    former = Base(*base)
    found = context.old.tables.record(former)
    if found is None or context.old.tables.is_polymorphic(found[1]):
        return False
    own = {(plain(each).name, plain(each).offset) for each in flat_fields(record.new)}
    brought = (plain(each) for each in inherited_fields([former], context.old.tables))
    return all((each.name, each.offset) in own for each in brought)


def _kept(record: Changed[Record], context: Context) -> str:
    """What a change of the bases leaves as it was: ``bases``, ``subobjects`` or ``layout``; empty for nothing."""
    gone, come = other_bases(record.old, record.new, context)
    if not gone and not come:
        return "bases"
    old, new = context.old.tables, context.new.tables
    same_form = record.old.size == record.new.size and old.is_polymorphic(record.old) == new.is_polymorphic(record.new)
    before, after = _places(record.old, old), _places(record.new, new)
    if before is None or after is None or not same_form:
        return ""
    if any(offset is None for _, offset in before ^ after):
        return ""
    if before <= after:
        return "subobjects"
    if come:
        return ""
    found = all(_takes_no_room(each, record.old, old) or _is_in_class(each, record, context) for each in before - after)
    return "layout" if found else ""


def _is_looked_for(record: Changed[Record], context: Context) -> bool:
    """Whether code of programs may ask at run time for a base that is gone.

    Handlers of exceptions and ``dynamic_cast`` follow the class's type information to its public bases. Of a class
    without virtual functions there is none unless somebody throws, catches or identifies it.
    """
    gone, _ = other_bases(record.old, record.new, context)
    sides = context.old, context.new
    return any(base.access == "public" for base in gone) and all(
        _has_typeinfo(record.subject.name, side) for side in sides
    )


def _has_typeinfo(name: Name, side: SideFacts) -> bool:
    symbols = (each for each in side.exports.names if each.startswith(TYPEINFO))
    return any(class_behind(each) == name.spelling for each in symbols)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_base_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The base classes of a class changed.

    A base brings members, a vtable and a place in the object. Members of the class, and of consumers' classes that
    derive from it, lie elsewhere. A conversion to a base that is gone gives the address of something else. A handler of
    exceptions that names it no longer catches the class, even if the base was empty.

    Fix: keep the bases; hold the new class as a member behind a pointer, or derive a new class from both.
    """
    kept = _kept(record, context)
    if not kept or (kept == "layout" and _is_looked_for(record, context)):
        yield Note("the base classes differ", listed(record.old), listed(record.new))


@rule(Impact.RISK, variant="empty_added", evidence="layout", element="types", action="changed")
def type_base_changed_empty_added(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A base class without new data was added, or put between a class and its bases.

    All subobjects and members that consumers know are where they were, and the size is the same: the base is empty, or
    members of the class moved into it in their places. A consumer's class that derives from the new base as well has it
    twice: conversions to it may become ambiguous.

    Fix: nothing, where consumers do not use the new base on their own.
    """
    if _kept(record, context) == "subobjects":
        yield Note("a base class was added", listed(record.old), listed(record.new))


@rule(Impact.API_BREAK, variant="empty_removed", evidence="layout", element="types", action="changed")
def type_base_changed_empty_removed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A base class was removed that is empty or left its members to the class, and that nobody asks for at run time.

    Built programs find everything where it was. Sources that convert to the base, or use what it declares, stop
    compiling. The base is not public, or the library exports no type information of the class, as it does of what is
    thrown or has virtual functions.

    Fix: keep the empty base.
    """
    if _kept(record, context) == "layout" and not _is_looked_for(record, context):
        yield Note("an empty base is gone", listed(record.old), listed(record.new))


def _order(record: Changed[Record]) -> tuple[list[TypeRef], list[TypeRef]]:
    """The bases that both sides have, in the order of each."""
    old, new = [base.type for base in record.old.bases], [base.type for base in record.new.bases]
    return [type for type in old if type in new], [type for type in new if type in old]


def _moved(record: Changed[Record]) -> bool:
    """Whether a base that both sides have moved. The offset of a virtual base is not known: it counts as moved."""
    new = {base.type: base.offset for base in record.new.bases}
    shared = [base for base in record.old.bases if base.type in new]
    return any(base.offset is None or base.offset != new[base.type] for base in shared)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def base_class_position_changed(record: Changed[Record]) -> Iterator[Note]:
    """The base classes were reordered.

    Their subobjects and vtables change places: a consumer that converts to one base gets the address of another.

    Fix: keep the order of bases.
    """
    old, new = _order(record)
    if old != new and _moved(record):
        yield Note("the base classes are in another order", listed(record.old), listed(record.new))


@rule(Impact.COMPATIBLE, variant="unmoved", evidence="layout", element="types", action="changed")
def base_class_position_changed_unmoved(record: Changed[Record]) -> Iterator[Note]:
    """The base classes were reordered, and lie where they were.

    At most one of them has data. Only the order in which they are constructed differs.

    Fix: nothing.
    """
    old, new = _order(record)
    if old != new and not _moved(record):
        yield Note("the base classes are in another order", listed(record.old), listed(record.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def base_class_virtual_changed(base: Changed[Base]) -> Iterator[Note]:
    """A base class became virtual, or stopped being virtual.

    Consumers find a virtual base through the vtable, and any other base at a fixed offset. Constructors of classes that
    derive further are called in another way.

    Fix: keep the inheritance as it is.
    """
    if base.old.virtual != base.new.virtual:
        yield Note("the base is inherited differently", _sort(base.old), _sort(base.new))


def _sort(base: Base) -> str:
    return "virtual" if base.virtual else "non-virtual"


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="place")
def base_class_offset_changed(base: Changed[Base]) -> Iterator[Note]:
    """A base class lies at another offset in the object.

    Consumers that convert to the base, or use a member that they inherit from it, work on other memory.

    Fix: keep the size of what stands before the base.
    """
    old, new = base.old.offset, base.new.offset
    if old is not None and new is not None and old != new:
        yield Note("the base is at another offset", f"byte {old // 8}", f"byte {new // 8}")


@rule(Impact.API_BREAK, variant="access_narrowed", evidence="layout", element="types", action="changed")
def type_base_changed_access_narrowed(base: Changed[Base]) -> Iterator[Note]:
    """The access to a base class was narrowed, e.g. from public to protected.

    Built programs work as before. Sources that convert to the base, or call what they inherit from it, stop compiling.

    Fix: keep the inheritance public.
    """
    if WIDTH[base.new.access] < WIDTH[base.old.access]:
        yield Note("the access is narrower", base.old.access, base.new.access)


@rule(Impact.COMPATIBLE, variant="access_widened", evidence="layout", element="types", action="changed")
def type_base_changed_access_widened(base: Changed[Base]) -> Iterator[Note]:
    """The access to a base class was widened, e.g. from private to public.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if WIDTH[base.new.access] > WIDTH[base.old.access]:
        yield Note("the access is wider", base.old.access, base.new.access)
