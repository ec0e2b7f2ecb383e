"""What happens to the alternatives of unions, those of anonymous unions inside records too."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.field_types import FieldType, field_type
from abistore.compare.members import flat_fields, plain
from abistore.compare.parts import InnerField
from abistore.compare.placement import Place, place_of
from abistore.compare.reserved import is_opaque_storage, is_reserved
from abistore.compare.rule import Note, rule
from abistore.compare.rules.fields import spelled
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Field, Record


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def union_field_added(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """Union has a further alternative.

    The others are where they were. That the union is larger, where it is, is another change.

    Fix: nothing, if the library never stores the new alternative where older consumers read.
    """
    if place_of(field, context) is Place.ALTERNATIVE:
        yield Note("an alternative was added", None, spelled(field.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="removed")
def union_field_removed(field: Removed[Field]) -> Iterator[Note]:
    """Union lost an alternative.

    Consumers store it and the library does not know it any more, or the library stores something else where consumers
    read it.

    Fix: keep the alternative, and go on understanding it.
    """
    if field.within is None or field.within.old.sort != "union" or is_reserved(field.old):
        return
    if not is_opaque_storage(field.within.old):
        yield Note("an alternative was removed", spelled(field.old), None)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def union_field_type_changed(field: Changed[Field], context: Context) -> Iterator[Note]:
    """Alternative of a union is of another type.

    Consumers read and write it with another size, layout or encoding.

    Fix: keep the alternative and add one of the new type.
    """
    within = field.within
    if within is None or within.old.sort != "union" or is_opaque_storage(within.old):
        return
    if field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the alternative is of another type", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_field_reordered(record: Changed[Record]) -> Iterator[Note]:
    """Alternatives of a union stand in another order.

    They lie where they lay, and built consumers use them. Sources that initialise the union without a name initialise
    another alternative when they are compiled again.

    Fix: keep the first alternative first.
    """
    old, new = _by_offset(record.old), _by_offset(record.new)
    for offset, names in old.items():
        before = [name for name in names if name in new.get(offset, ())]
        after = [name for name in new.get(offset, ()) if name in names]
        if before != after:
            yield Note("the alternatives are in another order", ", ".join(before), ", ".join(after))


def _by_offset(record: Record) -> dict[int, list[str]]:
    """The names of the fields at each offset, those of anonymous members too, as they are declared."""
    found: dict[int, list[str]] = {}
    for field in map(plain, flat_fields(record)):
        found.setdefault(field.offset, []).append(field.name)
    return found


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_storage_changed(field: Changed[Field] | Removed[Field], context: Context) -> Iterator[Note]:
    """Union that only gives room to the library's own data gives it in another way.

    Its name forbids consumers to use the other alternative, so that they only depend on its size and alignment, which
    have changes of their own.

    Fix: nothing.
    """
    if field.within is None or not is_opaque_storage(field.within.old) or is_reserved(field.old):
        return
    if isinstance(field, Removed):
        yield Note("the room is given in another way", spelled(field.old), None)
    elif field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the room is given in another way", spelled(field.old), spelled(field.new))
