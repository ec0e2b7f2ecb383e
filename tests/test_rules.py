"""Each kind of change has a case that fires it and a near-miss that does not, and all rules run on every case.

Cases are compared by the snapshots that are kept of their sides. Of each subject some are compiled and read anew, so
that a change of what is read is noticed; all of them are in the nightly run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import groupby
from math import ceil

import pytest

from abistore.diffing.context import load
from abistore.model.findings import Comparison
from abistore.model.snapshot_files import to_json
from examples.obtain import Missing
from tests.cases import (
    RULES,
    SNAPSHOTS,
    Case,
    Fence,
    cases,
    judged,
    kinds,
    rendered,
    shown,
    sides_of,
    snapshot_file,
    snapshot_of,
)
from tests.kept import FOLDER, as_json, file_of, keep, kept
from tests.sides import Side

KINDS = load()
FILES = sorted(RULES.glob("*.md"))
CASES = sorted((case for path in FILES for case in cases(path)), key=lambda case: case.subject)
SUBJECTS = {subject: [*own] for subject, own in groupby(CASES, lambda case: case.subject)}
SIDES = ("old", "new")

SAMPLE = 12
"""Of so many cases of a subject, one is compiled and read anew; at least one of each subject."""

UPDATE = "run `pytest tests/test_rules.py --update-cases`"


@pytest.fixture(scope="module", params=sorted(SUBJECTS))
def subject(request: pytest.FixtureRequest) -> str:
    """A subject; with ``--update-cases``, what is kept of it and the blocks of its cases are written first."""
    name: str = request.param
    if request.config.getoption("--update-cases"):
        keep((side for case in SUBJECTS[name] for side in made_of(case)), name)
        for case in SUBJECTS[name]:
            rewrite(case)
    return name


@pytest.fixture
def own(subject: str) -> list[Case]:
    """The cases of a subject, as their files are now."""
    return [case for path in sorted({case.path for case in SUBJECTS[subject]}) for case in cases(path)]


def made_of(case: Case) -> list[Side]:
    """What the snapshots of both sides are read from."""
    return [each for side in SIDES for each in sides_of(case, side)]


def rewrite(case: Case) -> None:
    """Writes what a case finds and draws into its file: a block is found anew, because others may have moved it."""
    if case.is_drawn:
        for side in SIDES:
            _put(case, drawing(cases(case.path)[case.number - 1], side).span, shown(snapshot_of(case, side)))
    _put(case, cases(case.path)[case.number - 1].where, rendered(judged(case)))


def _put(case: Case, where: tuple[int, int], block: str) -> None:
    text = case.path.read_text()
    written = text[: where[0]] + block + text[where[1] :]
    if written != text:
        partial = case.path.with_suffix(f".{os.getpid()}")
        partial.write_text(written)
        partial.rename(case.path)


def drawing(case: Case, side: str) -> Fence:
    """The block that shows the snapshot of one side as C."""
    return next(fence for fence in case.fences if fence.is_snapshot and fence.side == side)


def difference(label: str, expected: str, actual: str) -> Iterator[str]:
    """The lines that differ between two texts, under ``label``."""
    if expected != actual:
        lines = unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual", lineterm="", n=1)
        yield "\n".join([label, *lines])


def of_its_kind(case: Case, comparison: Comparison) -> Iterator[str]:
    """Whether a case finds its kind, and a near-miss does not."""
    if case.path.stem in KINDS and (case.path.stem in kinds(comparison)) == case.silent:
        yield f"{case.label}: {case.path.stem} is{' ' if case.silent else ' not '}found"


def as_kept(case: Case) -> Iterator[str]:
    """What reading both sides anew gives otherwise than the case says, or than is kept of the same compilers."""
    yield from difference(case.label, case.expected, rendered(judged(case, read=lambda side, _: side.read())))
    for side in made_of(case):
        before = kept(case.subject).get(side.key)
        if before and before.made_by == side.made_by and as_json(side.read()) != before.json:
            kept_as, read_as = (to_json(each).decode() for each in (before.snapshot, side.read()))
            yield from difference(f"{case.label} is read differently; if that is meant, {UPDATE}", kept_as, read_as)


def listed(found: Iterable[str]) -> str:
    return "\n\n" + "\n\n".join(found)


def test_cases_give_exactly_their_findings(own: Sequence[Case]) -> None:
    wrong, missing = list[str](), list[Missing]()
    for case in own:
        try:
            comparison = judged(case)
        except Missing as error:
            missing.append(error)
            continue
        wrong += [*difference(case.label, case.expected, rendered(comparison)), *of_its_kind(case, comparison)]
    assert not wrong, listed(wrong)
    if missing:
        raise missing[0]


def test_a_release_compared_with_itself_has_no_findings(own: Sequence[Case]) -> None:
    wrong = [f"{case.label} {side}" for case in own for side in SIDES if judged(case, (side, side)).findings]
    assert not wrong, listed(wrong)


def test_cases_show_their_snapshots_as_c(own: Sequence[Case]) -> None:
    drawn = [(case, side) for case in own if case.is_drawn for side in SIDES]
    wrong = [
        each
        for case, side in drawn
        for each in difference(case.label, drawing(case, side).body, shown(snapshot_of(case, side)))
    ]
    assert not wrong, listed(wrong)


def test_the_snapshot_of_each_side_is_kept_and_no_other(subject: str, own: Sequence[Case]) -> None:
    asked = {side.key: case.label for case in own for side in made_of(case)}
    assert not [label for key, label in asked.items() if key not in kept(subject)], UPDATE
    assert not kept(subject).keys() - asked, UPDATE


def test_a_sample_is_compiled_and_read_as_it_was_kept(own: Sequence[Case]) -> None:
    compiled = [case for case in own if made_of(case) and all(side.is_of_the_system for side in made_of(case))]
    chosen = sorted(compiled, key=lambda case: min(side.key for side in made_of(case)))[: ceil(len(compiled) / SAMPLE)]
    wrong = [each for case in chosen for each in as_kept(case)]
    assert not wrong, listed(wrong)


@pytest.mark.nightly
def test_every_case_is_compiled_and_read_as_it_was_kept(own: Sequence[Case]) -> None:
    wrong = [each for case in own for each in as_kept(case)]
    assert not wrong, listed(wrong)


def test_no_case_shows_json_and_no_snapshot_is_left_over(request: pytest.FixtureRequest) -> None:
    assert not [path.name for path in FILES if "```json" in path.read_text()]
    drawn = [case for case in CASES if case.is_drawn]
    assert {snapshot_file(case, side) for case in drawn for side in SIDES} == set(SNAPSHOTS.glob("*"))
    left_over = set(FOLDER.glob("*.xz")) - {file_of(case.subject) for case in CASES if made_of(case)}
    if request.config.getoption("--update-cases"):
        for file in left_over:
            file.unlink()
    else:
        assert not left_over, UPDATE


def test_every_kind_has_a_case_and_a_near_miss() -> None:
    fired, silent = ({case.path.stem for case in CASES if case.silent == near} for near in (False, True))
    assert not sorted(KINDS.keys() - fired), "these have no case that fires"
    assert not sorted(KINDS.keys() - silent), "these have no pair under '## Stays silent'"


def test_a_case_file_is_named_after_a_kind() -> None:
    assert not [path.name for path in FILES if path.stem not in KINDS and not path.stem.startswith("quiet")]
