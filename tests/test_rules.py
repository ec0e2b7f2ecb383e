"""Each kind of change has a case that fires it and a near-miss that does not, and all rules run on every case."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.compare.rule import load
from tests.cases import (
    RULES,
    SNAPSHOTS,
    Case,
    against_itself,
    cases,
    judged,
    kinds,
    rendered,
    shown,
    snapshot_file,
    snapshot_of,
)

KINDS = load()
FILES = sorted(RULES.glob("*.md"))
CASES = [case for path in FILES for case in cases(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_case_gives_exactly_its_findings(case: Case, request: pytest.FixtureRequest) -> None:
    comparison = judged(case)
    actual = rendered(comparison)
    if request.config.getoption("--update-cases"):
        _rewrite(case, actual)
    else:
        assert actual == case.expected
    if case.path.stem in KINDS:
        assert (case.path.stem in kinds(comparison)) != case.silent


def _rewrite(case: Case, actual: str) -> None:
    """Puts ``actual`` into the file; the block is found by its turn, because earlier ones may have moved it."""
    text = case.path.read_text()
    start, end = cases(case.path)[case.number - 1].where
    case.path.write_text(text[:start] + actual + text[end:])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_release_compared_with_itself_has_no_findings(file: Path) -> None:
    for case in cases(file):
        for side in ("old", "new"):
            assert against_itself(case, side).findings == (), (case.label, side)


DRAWN = [case for case in CASES if any(fence.is_snapshot for fence in case.fences)]


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.label)
@pytest.mark.parametrize("side", ["old", "new"])
def test_a_case_shows_its_snapshot_as_c(case: Case, side: str, request: pytest.FixtureRequest) -> None:
    drawn = shown(snapshot_of(case, side))
    number = next(place for place, fence in enumerate(case.fences) if fence.is_snapshot and fence.side == side)
    if request.config.getoption("--update-cases"):
        start, end = cases(case.path)[case.number - 1].fences[number].span
        text = case.path.read_text()
        case.path.write_text(text[:start] + drawn + text[end:])
    else:
        assert case.fences[number].body == drawn


def test_no_case_shows_json_and_no_snapshot_is_left_over() -> None:
    assert not [path.name for path in FILES if "```json" in path.read_text()]
    assert {snapshot_file(case, side) for case in DRAWN for side in ("old", "new")} == set(SNAPSHOTS.glob("*"))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_has_a_case_and_a_near_miss(kind: str) -> None:
    own = [case for case in CASES if case.path.stem == kind]
    assert any(not case.silent for case in own), f"{RULES / kind}.md has no case that fires"
    assert any(case.silent for case in own), f"{RULES / kind}.md has no pair under '## Stays silent'"


def test_a_case_file_is_named_after_a_kind() -> None:
    strangers = (
        {path.stem for path in FILES} - set(KINDS) - {path.stem for path in FILES if path.stem.startswith("quiet")}
    )
    assert not strangers
