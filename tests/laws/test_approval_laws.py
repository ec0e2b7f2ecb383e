"""An approval covers exactly what was approved: nothing that breaks in another build hides below an approved cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import HealthCheck, given, settings

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Finding, Impact, identified, with_consequences
from tests.laws.drawn_layouts import Edit, Library, applied, approvals, built

relaxed = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)


def breaks(base: Library, changes: Iterable[Edit]) -> Sequence[Finding]:
    found = compare(built(base), built(applied(base, changes))).findings
    return [each for each in found if each.impact >= Impact.API_BREAK]


def called(found: Iterable[Finding]) -> set[str]:
    return {name for name, _ in identified(found)}


def facts(found: Iterable[Finding]) -> set[tuple[object, ...]]:
    """Everything that breaks programs, whatever it is reported under."""
    heavy = (each for each in with_consequences(found) if each.impact >= Impact.API_BREAK)
    return {(each.kind, each.name, each.part, each.old_value, each.new_value) for each in heavy}


def places(found: Iterable[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """What breaks, whatever the values are."""
    return {each[:3] for each in found}


@relaxed
@given(approvals())
def test_what_nobody_approved_and_breaks_does_not_pass(drawn: tuple[Library, list[Edit], Edit]) -> None:
    """Another build has the approved changes and one more. It may not pass if that breaks more, or elsewhere.

    An edit that breaks nothing by itself may change how far an approved one reaches: a member stops being of a type
    that grew.
    """
    base, approved, evil = drawn
    with_it, without = breaks(base, [*approved, evil]), breaks(base, approved)
    more = facts(with_it) - facts(without)
    if more and (breaks(base, [evil]) or places(more) - places(facts(without))):
        assert not called(with_it) <= called(without)
