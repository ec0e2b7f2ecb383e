"""Laws of incremental judging over all kinds of changes: the cases of the rules, many in one library."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.diffing.context import Context, load
from abistore.diffing.judge.judged import Ruling, compare, compared
from abistore.diffing.policy import Policy
from abistore.diffing.reuse import differing
from abistore.diffing.side import SideFacts
from abistore.diffing.suppression import Suppressions
from abistore.model.findings import Comparison
from abistore.model.snapshot import Snapshot
from tests.cases import RULES, cases, kinds
from tests.laws.chained import Part, history, parts
from tests.laws.test_against_laws import judged_in_turn, relaxed, suppressions, unlocated
from tests.laws.test_policy_laws import policies

RELEASES = 4
COMPANIES = 24
"""What stands beside a case may hide its change, as an export that takes any type does: so many choices are tried."""

LEADING = [case.label for path in sorted(RULES.glob("*.md")) for case in cases(path) if not case.silent]
GROUPS = [LEADING[start : start + 20] for start in range(0, len(LEADING), 20)]


def led_by(label: str, *, mixed: bool = False, company: int = 0) -> list[Snapshot]:
    leading: Part = next(part for part in parts(silent=False) if part.label == label)
    return history(leading, company, RELEASES, mixed=mixed)


def both(labels: list[str]) -> Iterator[list[Snapshot]]:
    """Libraries of parts that share no names; every fourth also with parts that do."""
    for number, label in enumerate(labels):
        yield led_by(label)
        if number % 4 == 0:
            yield led_by(label, mixed=True)


@pytest.mark.parametrize("labels", GROUPS, ids=lambda labels: labels[0])
def test_every_kind_of_change_is_found_from_release_to_release_as_by_itself(labels: list[str]) -> None:
    """Against an old release, and between neighbours."""
    for releases in both(labels):
        against = [compare(releases[0], new) for new in releases[1:]]
        assert list(map(unlocated, judged_in_turn(releases))) == list(map(unlocated, against))
        between = [compare(old, new) for old, new in pairwise(releases[1:])]
        assert neighbours_in_turn(releases) == [against[0], *between]


def neighbours_in_turn(releases: list[Snapshot]) -> list[Comparison]:
    """The comparisons of each release with the next, which keep what is known of the one in between."""
    side, found = SideFacts(releases[0]), []
    for old, new in pairwise(releases):
        names = differing(old, new)
        later = side.after(new, set().union(*names.values()))
        found.append(compared(Context(side, later, differing=names), None))
        side = later
    return found


def test_these_histories_show_every_kind_of_change() -> None:
    whole = {kind for kind in load() if kind.startswith("bundle_")} | {
        "soname_changed.package_kept"
    }  # found in whole releases
    missing = {*load()} - whole
    for company in range(COMPANIES):
        for label in LEADING:
            if label.rpartition("-")[0] in missing:
                releases = led_by(label, company=company)
                missing -= {kind for new in releases[1:] for kind in kinds(compare(releases[0], new))}
    assert missing == set()


@relaxed
@given(st.sampled_from(LEADING), policies, suppressions, st.booleans())
def test_a_policy_and_suppressions_do_to_every_kind_what_they_do_to_one_comparison(
    label: str, policy: Policy, accepted: Suppressions, mixed: bool
) -> None:
    releases = led_by(label, mixed=mixed)
    for new, found in zip(releases[1:], judged_in_turn(releases, Ruling(policy, accepted)), strict=True):
        alone = compare(releases[0], new, Ruling(policy, accepted))
        assert unlocated(found) == unlocated(alone)
