"""What the page about kinds and evidences says, and a few of its cells, built and compared anew."""

from __future__ import annotations

import json

import pytest

from abistore.diffing.rules import CASES
from benchmarks import kinds_by_evidence
from benchmarks.kinds_by_evidence import RESULT, TOOLCHAINS, measured
from benchmarks.kinds_not_seen import REASONS, SEEN, UNKNOWN, why
from tests.build import CACHE

MEASURED = json.loads(RESULT.read_text())
KINDS: dict[str, dict[str, str]] = MEASURED["kinds"]


def test_every_kind_that_is_not_seen_has_a_reason() -> None:
    marks = {mark for seen in KINDS.values() for mark in seen.values()} - {SEEN}
    assert marks <= REASONS.keys() - {UNKNOWN}
    assert MEASURED["reasons"] == {key: REASONS[key] for key in sorted(marks)}


def test_every_kind_that_was_measured_is_one_and_has_a_mark_for_each_evidence() -> None:
    assert {kind for kind in KINDS if not (CASES / f"{kind}.md").exists()} == set()
    assert {kind for kind, seen in KINDS.items() if seen.keys() != TOOLCHAINS.keys()} == set()


@pytest.mark.parametrize("evidence", ["gcc", "clang", "headers", pytest.param("macho", marks=pytest.mark.full)])
def test_cells_of_the_table_are_found_anew(evidence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "type_field_added"
    monkeypatch.setattr(kinds_by_evidence, "CACHE", CACHE / "evidence")
    seen = measured(CASES / f"{kind}.md", 1, evidence)
    assert (SEEN if kind in seen.kinds else why(kind, evidence, [seen.failed])) == KINDS[kind][evidence]
