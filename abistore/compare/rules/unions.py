"""What happens to the alternatives of unions, those of anonymous unions inside records too."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.field_types import FieldType, field_type
from abistore.compare.parts import InnerField
from abistore.compare.placement import Place, place_of
from abistore.compare.reserved import is_reserved
from abistore.compare.rule import Note, rule
from abistore.compare.rules.fields import spelled
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Field


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
    if field.within is not None and field.within.old.sort == "union" and not is_reserved(field.old):
        yield Note("an alternative was removed", spelled(field.old), None)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def union_field_type_changed(field: Changed[Field], context: Context) -> Iterator[Note]:
    """Alternative of a union is of another type.

    Consumers read and write it with another size, layout or encoding.

    Fix: keep the alternative and add one of the new type.
    """
    within = field.within
    if within is not None and within.old.sort == "union" and field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the alternative is of another type", spelled(field.old), spelled(field.new))
