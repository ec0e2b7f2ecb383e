"""Exports that no consumer can name, because only a source file defines their class."""

from __future__ import annotations

import msgspec

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Function, Method, Record
from abistore.model.snapshot import Location, Snapshot
from tests.diffing.model import INT, LONG, function, record, snapshot, struct, to, uses

WALK, USE = function("_ZN6Walker4walkEv"), function("use")
WALKER, STATE, POINT = record("Walker"), record("State"), record("Point")


def side(state: Record, *, walks: bool = True, walker: str = "walk.cc", point: str = "point.h") -> Snapshot:
    """A library with a public record, and a class of its own whose member takes a State."""
    member = Function("Walker::walk", INT, (to(STATE),), method=Method(WALKER))
    walking = {WALK: member, WALKER: struct(INT), STATE: state} if walks else {}
    found = snapshot({USE: uses(to(POINT)), POINT: struct(INT, INT), **walking})
    places: dict[Name, Location] = {POINT: Location(point, 1), WALKER: Location(walker, 1), STATE: Location(walker, 9)}
    return msgspec.structs.replace(found, locations=places)


def test_a_member_of_a_class_in_a_source_file_may_vanish() -> None:
    comparison = compare(side(struct(INT)), side(struct(INT), walks=False))
    assert [each.kind for each in comparison.findings] == ["symbols_removed.internal"]
    assert comparison.findings[0].affected == (WALK,)


def test_a_member_of_a_class_in_a_header_may_not() -> None:
    comparison = compare(side(struct(INT), walker="walk.h"), side(struct(INT), walks=False))
    assert comparison.verdict is Verdict.BREAKING


def test_without_headers_of_its_own_nothing_in_a_library_is_internal() -> None:
    for header in ("point.cc", "/usr/include/point.h"):
        comparison = compare(side(struct(INT), point=header), side(struct(INT), walks=False, point=header))
        assert comparison.verdict is Verdict.BREAKING


def test_what_only_internal_members_reach_does_not_matter() -> None:
    assert compare(side(struct(INT)), side(struct(LONG))).findings == ()
    assert compare(side(struct(INT), walker="walk.h"), side(struct(LONG), walker="walk.h")).findings
