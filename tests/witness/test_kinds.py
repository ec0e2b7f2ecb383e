"""What programs show of the cases of each kind: ``shown.csv`` keeps it, ``python -m benchmarks.witness`` writes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from benchmarks.witness import Row, kind_state, of_case, read
from tests.cases import RULES, cases

SHARE = 0.9
"""Of the kinds that break, so many are shown by a program."""

KINDS: dict[str, list[Row]] = defaultdict(list)
for row in read():
    KINDS[row.kind].append(row)

SUBJECTS = sorted({kind.partition("_")[0] for kind in KINDS})


def measured(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """What a compiler of any version says: the reasons are in its own words."""
    return [(each.kind, each.case, each.finding, each.state, each.sort) for each in rows]


def of_subject(subject: str) -> list[str]:
    return [kind for kind in KINDS if kind.partition("_")[0] == subject]


def test_most_kinds_that_break_are_shown_by_a_program() -> None:
    shown = [kind for kind, rows in KINDS.items() if kind_state(rows) == "shown"]
    assert len(shown) >= SHARE * len(KINDS)
    assert {kind for kind, rows in KINDS.items() if any(each.state == "refuted" for each in rows)} == set()


@pytest.mark.full
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_first_case_of_a_kind_has_its_witnesses(subject: str) -> None:
    for kind in of_subject(subject):
        first = min(each.case for each in KINDS[kind])
        found = of_case(cases(RULES / f"{kind}.md")[first - 1])
        assert measured(found) == measured(each for each in KINDS[kind] if each.case == first)


@pytest.mark.nightly
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_case_of_a_kind_has_its_witnesses(subject: str) -> None:
    for kind in of_subject(subject):
        for number in sorted({each.case for each in KINDS[kind]}):
            found = of_case(cases(RULES / f"{kind}.md")[number - 1])
            assert measured(found) == measured(each for each in KINDS[kind] if each.case == number)
