"""Private members and classes that no program looks into, and snapshots that do not tell whether one does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Impact
from abistore.model.snapshot import FRIENDS, LATER_FACTS, TYPES_IN_BODIES, HeadersRead, Snapshot
from tests.public_headers import implementing

NESTED = "class W { struct Impl { %s }; Impl *p; public: W(); ~W(); W(const W &); };"
MEMBERS = "class W { %s public: W(); ~W(); W(const W &); };"
OLD, NEW = "int a; long b;", "long b; int a;"
NUMBERS, SWAPPED = "int a, b;", "int b, a;"


def library(text: str, facts: tuple[str, ...] = LATER_FACTS) -> Snapshot:
    """A library with this public header, of which a reading told these facts."""
    snapshot = implementing({"w.h": text})
    read = snapshot.provenance.headers
    assert isinstance(read, HeadersRead) and read.facts == LATER_FACTS
    return replace(snapshot, provenance=replace(snapshot.provenance, headers=replace(read, facts=facts)))


def worst(old: str, new: str, facts: tuple[str, ...]) -> Impact:
    """The worst finding where the old side tells these facts."""
    return max(each.impact for each in compare(library(old, facts), library(new)).findings)


@pytest.mark.parametrize("header", [(MEMBERS, NUMBERS, SWAPPED), (NESTED, OLD, NEW)])
def test_private_members_are_no_break_where_all_that_could_use_them_was_asked_for(header: tuple[str, str, str]) -> None:
    text, old, new = header
    assert worst(text % old, text % new, LATER_FACTS) is Impact.RISK


@pytest.mark.parametrize("facts", [(), (TYPES_IN_BODIES,)])
@pytest.mark.parametrize("header", [(MEMBERS, NUMBERS, SWAPPED), (NESTED, OLD, NEW)])
def test_no_friends_in_a_snapshot_that_never_told_of_any_are_not_none(
    header: tuple[str, str, str], facts: tuple[str, ...]
) -> None:
    text, old, new = header
    assert worst(text % old, text % new, facts) is Impact.BREAKING


def test_bodies_that_never_told_of_types_may_name_a_private_one() -> None:
    assert worst(NESTED % OLD, NESTED % NEW, (FRIENDS,)) is Impact.BREAKING


def test_a_body_that_tells_more_than_a_former_version_did_is_the_same_body() -> None:
    text = (
        "class W { struct Impl { int a; }; Impl *p; public: W(); static int size() { return sizeof(Impl); } int f(); };"
    )
    new = library(text)
    name, shapes = next(
        (name, shapes)
        for name, shapes in new.entries["source"].items()
        if any(getattr(each, "body", None) for each in shapes)
    )
    former = tuple(
        replace(each, body=replace(each.body, types=())) if getattr(each, "body", None) else each for each in shapes
    )
    assert former != shapes
    old = replace(library(text, ()), entries={**new.entries, "source": {**new.entries["source"], name: former}})
    assert compare(old, new).findings == ()
