"""Laws of the matrix: each cell is the verdict of comparing its two releases, whatever was judged before it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.judge.successive import Replacing
from abistore.diffing.policy import Policy
from abistore.diffing.reuse import differing
from abistore.diffing.side import SideFacts
from abistore.diffing.suppression import Suppressions
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot
from tests.draws import draws
from tests.laws import chained
from tests.laws.histories import history
from tests.laws.test_against_laws import suppressions
from tests.laws.test_policy_laws import policies

relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=draws(5))


def matrix(releases: Sequence[Snapshot], by: Ruling | None = None) -> dict[tuple[int, int], Verdict]:
    """The verdicts about all pairs, column by column, with what broke the row above as a hint."""
    last = SideFacts(releases[0])
    rows, found = [Replacing(last, by)], dict[tuple[int, int], Verdict]()
    for number, new in enumerate(releases[1:], 1):
        changed = set().union(*differing(last.snapshot, new).values())
        last = last.after(new, changed)
        hints: tuple[Name, ...] = ()
        for old, row in enumerate(rows):
            row.note(changed)
            found[old, number] = row.verdict(last, hints)
            hints = row.witnesses
        rows.append(Replacing(last, by))
    return found


@relaxed
@given(st.integers(0, 1 << 32))
def test_each_pair_of_a_random_history_has_the_verdict_of_its_comparison(seed: int) -> None:
    releases = history(seed, 7)
    for (old, new), verdict in matrix(releases).items():
        assert verdict is compare(releases[old], releases[new]).verdict, (old, new)


@relaxed
@given(st.integers(0, 1 << 32), st.integers(0, 199))
def test_each_pair_of_a_history_of_all_rules_has_the_verdict_of_its_comparison(seed: int, leading: int) -> None:
    releases = chained.history(chained.parts(silent=False)[leading], seed, 6)
    for (old, new), verdict in matrix(releases).items():
        assert verdict is compare(releases[old], releases[new]).verdict, (old, new)


@relaxed
@given(st.integers(0, 1 << 32), policies, suppressions)
def test_a_policy_and_suppressions_do_to_a_matrix_what_they_do_to_its_pairs(
    seed: int, policy: Policy, accepted: Suppressions
) -> None:
    releases = history(seed, 6)
    by = Ruling(policy, accepted)
    for (old, new), verdict in matrix(releases, by).items():
        assert verdict is compare(releases[old], releases[new], by).verdict, (old, new)
