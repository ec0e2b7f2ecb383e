"""Inline bodies that use other data members than before, at other places."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.compare.context import Context
from abistore.compare.diff.members import renamed_fields
from abistore.compare.side import SideFacts
from abistore.compare.types.fields import flat_fields, plain
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Record


def members_exchanged(declared: Changed[Declared], context: Context) -> tuple[Sequence[str], Sequence[str]] | None:
    """The members that a body used and uses now, where these are as many, and none lies where one of those lay.

    ``None`` where members only have other names, or moved themselves: they have findings of their own.
    """
    old, new = (each.body.fields if each.body is not None else () for each in (declared.old, declared.new))
    if not old or len(old) != len(new) or not set(old).isdisjoint(new):
        return None
    if [_renamed(each, context) for each in old] == list(new):
        return None
    before, after = [_place(each, context.old) for each in old], [_place(each, context.new) for each in new]
    if None in before or None in after or not set(before).isdisjoint(after):
        return None
    return old, new


def _owner(field: str) -> Name:
    return Name("record", field.rpartition("::")[0])


def _renamed(field: str, context: Context) -> str:
    """What a member is called now."""
    owner, _, own = field.rpartition("::")
    return f"{owner}::{renamed_fields(_owner(field), context).get(own, own)}"


def _place(field: str, side: SideFacts) -> tuple[Name, int] | None:
    """The class of a member, and its offset in bits; ``None`` where that is not known."""
    owner, own = _owner(field), field.rpartition("::")[2]
    shape = side.shape(owner)
    fields = map(plain, flat_fields(shape)) if isinstance(shape, Record) else ()
    return next(((owner, each.offset) for each in fields if each.name == own), None)
