"""Laws of judging many releases against one: what is kept from one to the next equals what judging them anew finds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.judge.successive import JudgedAgainst
from abistore.diffing.policy import Condition, Expression, LocatedIn, Policy, SymbolIs, TypeIs
from abistore.diffing.reuse import differing
from abistore.diffing.side import SideFacts
from abistore.diffing.suppression import Suppression, Suppressions, VersionRange
from abistore.model.findings import Comparison, Finding
from abistore.model.shapes import Function
from abistore.model.snapshot import Snapshot
from tests.diffing.model import INT, VOID, function, record, struct, to
from tests.diffing.model import snapshot as release
from tests.draws import draws
from tests.effort import steps
from tests.laws.histories import EXPORTS, FILES, TYPES, history
from tests.laws.test_policy_laws import conditions, policies

relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=draws(40))

files = st.builds(Expression, st.sampled_from([*(f".*{each}" for each in FILES), ".*internal.*"]))
named: st.SearchStrategy[Condition] = st.one_of(
    conditions,
    st.builds(LocatedIn, st.tuples(files)),
    st.builds(SymbolIs, st.tuples(st.sampled_from([each.spelling for each in EXPORTS]))),
    st.builds(TypeIs, st.tuples(st.sampled_from([each.spelling for each in TYPES]))),
)
ranges = st.none() | st.just(VersionRange(((">=", "1.3"), ("<", "1.6"))))
entries = st.tuples(st.lists(named, min_size=1, max_size=2).map(tuple), ranges)
suppressions = st.lists(entries, max_size=5).map(
    lambda found: Suppressions(
        tuple(
            Suppression(f"entry {number}", each, new_versions=versions) for number, (each, versions) in enumerate(found)
        )
    )
)


def unlocated(comparison: Comparison) -> Comparison:
    """Without where findings stand, which the two releases tell."""
    return msgspec.structs.replace(
        comparison,
        findings=_unlocated(comparison.findings),
        suppressed=_unlocated(comparison.suppressed),
        advice=_unlocated(comparison.advice),
    )


def _unlocated(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(
        msgspec.structs.replace(each, location=None, consequences=_unlocated(each.consequences)) for each in findings
    )


def judged_in_turn(releases: Sequence[Snapshot], by: Ruling | None = None) -> list[Comparison]:
    """The comparisons of the first release with each of the others."""
    old = SideFacts(releases[0])
    against, last, found = JudgedAgainst(old, by), old, []
    for new in releases[1:]:
        changed = set().union(*differing(last.snapshot, new).values())
        last = last.after(new, changed)
        found.append(against.judge(last, changed, differing(releases[0], new)))
    return found


@relaxed
@given(st.integers(0, 1 << 32))
def test_many_releases_are_judged_against_one_as_each_is_by_itself(seed: int) -> None:
    releases = history(seed, 9)
    for new, found in zip(releases[1:], judged_in_turn(releases), strict=True):
        assert unlocated(found) == unlocated(compare(releases[0], new))


@relaxed
@given(st.integers(0, 1 << 32), policies, suppressions)
def test_a_policy_and_suppressions_do_to_many_what_they_do_to_each(
    seed: int, policy: Policy, accepted: Suppressions
) -> None:
    releases = history(seed, 9)
    for new, found in zip(releases[1:], judged_in_turn(releases, Ruling(policy, accepted)), strict=True):
        alone = compare(releases[0], new, Ruling(policy, accepted))
        assert unlocated(found) == unlocated(alone)


def test_many_types_that_go_with_one_function_are_folded_in_linear_work() -> None:
    """Each depends on what is found about the function, which depends on none of them."""

    def work(count: int) -> int:
        names = [record(f"T{number:04}") for number in range(count)]
        used = function("use")
        old = release({used: Function("use", VOID, tuple(map(to, names))), **dict.fromkeys(names, struct(INT))})
        new = release({used: Function("use", VOID, (INT,))})
        return steps(lambda: judged_in_turn([old, new]))

    work(10)
    few, many = work(50), work(200)
    assert many < 6 * few
