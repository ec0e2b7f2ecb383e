"""Members of unions, and of anonymous unions inside structs and classes."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.field_places import FieldPlace, place_of
from abistore.compare.classify.field_types import FieldType, field_type
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.compare.rules.fields import spelled
from abistore.compare.types.fields import InnerField, flat_fields, plain
from abistore.compare.types.reserved_fields import is_opaque_storage, is_reserved
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Field, Record


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def union_field_added(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A member was added to a union.

    The other members are where they were. Where the union became larger, that is a finding of its own.

    Fix: nothing, if the library never stores the new member where older programs read.
    """
    if place_of(field, context) is FieldPlace.ALTERNATIVE:
        yield Note("a member was added", None, spelled(field.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="removed")
def union_field_removed(field: Removed[Field]) -> Iterator[Note]:
    """A member of a union was removed.

    Programs store it and the library does not know it any more, or the library stores something else where programs
    read it.

    Fix: keep the member, and go on understanding it.
    """
    if field.within is None or field.within.old.sort != "union" or is_reserved(field.old):
        return
    if not is_opaque_storage(field.within.old):
        yield Note("a member was removed", spelled(field.old), None)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def union_field_type_changed(field: Changed[Field], context: Context) -> Iterator[Note]:
    """The type of a union's member changed.

    Programs read and write it with another size, layout or encoding.

    Fix: keep the member and add one of the new type.
    """
    within = field.within
    if within is None or within.old.sort != "union" or is_opaque_storage(within.old):
        return
    if field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the member is of another type", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_field_reordered(record: Changed[Record]) -> Iterator[Note]:
    """The members of a union were reordered.

    They lie where they lay, and built programs use them. Sources that initialise the union without a member's name
    initialise another one when they are compiled again.

    Fix: keep the first member first.
    """
    old, new = _by_offset(record.old), _by_offset(record.new)
    for offset, names in old.items():
        before = [name for name in names if name in new.get(offset, ())]
        after = [name for name in new.get(offset, ()) if name in names]
        if before != after:
            yield Note("the members are in another order", ", ".join(before), ", ".join(after))


def _by_offset(record: Record) -> dict[int, list[str]]:
    """The names of the fields at each offset, those of anonymous members too, as they are declared."""
    found: dict[int, list[str]] = {}
    for field in map(plain, flat_fields(record)):
        found.setdefault(field.offset, []).append(field.name)
    return found


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_storage_changed(field: Changed[Field] | Removed[Field], context: Context) -> Iterator[Note]:
    """A union whose only purpose is room for the library's data was declared differently.

    Its name forbids programs to use the other member, so that they depend only on its size and alignment, which have
    findings of their own. Example: ``char opaque[40]`` became ``long opaque[5]``.

    Fix: nothing.
    """
    if field.within is None or not is_opaque_storage(field.within.old) or is_reserved(field.old):
        return
    if isinstance(field, Removed):
        yield Note("the storage is declared differently", spelled(field.old), None)
    elif field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the storage is declared differently", spelled(field.old), spelled(field.new))
