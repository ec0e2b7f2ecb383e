"""How objects of a class are passed by value: in registers and memory like their members, or by invisible reference."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Record

WAYS = {"value": "by value", "reference": "by invisible reference"}


def _ways(record: Changed[Record]) -> tuple[str, str] | None:
    """How objects were passed and are now, where that differs and both sides tell."""
    old, new = record.old.passing, record.new.passing
    return (WAYS[old], WAYS[new]) if old is not None and new is not None and old != new else None


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    aliases=("trivially_copyable_lost", "trivially_copyable_gained"),
    effect=True,
)
def value_abi_trait_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """Class that exports take or return by value is passed in another way.

    A destructor, copy or move constructor that is not trivial makes callers pass the address of a copy where the
    members themselves went into registers: callers and the library disagree on where the object is.

    Fix: keep these members trivial (or not), or take the class by reference.
    """
    ways = _ways(record)
    if ways is not None and context.by_value(record.subject.name):
        yield Note("objects are passed in another way", *ways)


@rule(Impact.RISK, evidence="layout", element="types", action="changed", effect=True)
def pointer_only_value_abi_trait_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """Class that exports use through pointers only would be passed by value in another way.

    No call into the library changes. Two consumers that pass objects to one another disagree, if one of them was built
    before.

    Fix: keep destructor, copy and move constructor trivial (or not) where consumers may hold objects of their own.
    """
    ways = _ways(record)
    if ways is not None and not context.by_value(record.subject.name):
        yield Note("objects are passed in another way", *ways)
