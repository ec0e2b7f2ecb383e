"""The candidates for suppressions cover the breaks that they are written for, and none is superfluous."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.suppression_files import load
from abistore.model.findings import Impact, Verdict, with_consequences
from abistore.report.outline import outline
from abistore.service.ruling import suggest
from tests.cases import RULES, cases, snapshot_of

SUBJECTS = ("base_class_offset_changed", "enum_member_value_changed", "field_bitfield_changed", "func_removed")
MORE = ("type_vtable_changed", "vtable_thunk_set_changed", "vtt_slot_count_changed", "type_field_offset_changed")


@pytest.mark.parametrize("kind", [*SUBJECTS, *MORE])
def test_candidates_take_every_break_and_each_is_used(tmp_path: Path, kind: str) -> None:
    case = cases(RULES / f"{kind}.md")[0]
    old, new = snapshot_of(case, "old"), snapshot_of(case, "new")
    comparison = compare(old, new)
    assert comparison.verdict >= Verdict.API_BREAK
    made = suggest(outline(comparison))
    text, count = made.yaml, made.count
    path = tmp_path / "candidates.yaml"
    path.write_text(text)
    held = load([str(path)], scheme="auto", today=date(2026, 6, 1), strict=False)
    assert len(held.entries) == count
    accepted = compare(old, new, Ruling(suppressions=held))
    assert all(finding.impact < Impact.API_BREAK for finding in accepted.findings)
    assert not [note for note in accepted.notes if "matched nothing" in note]


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        ("type_size_changed", False),
        ("type_size_changed.handle", True),
        ("type_size_changed.*", True),
        ("type_handle_size_changed", True),
        ("library_allocated_type_resized", True),
    ],
)
def test_a_word_takes_no_more_than_it_says(tmp_path: Path, word: str, taken: bool) -> None:
    case = cases(RULES / "type_size_changed.handle.md")[0]
    path = tmp_path / "known.yaml"
    path.write_text(f"suppressions: [{{change_kind: {word}, reason: known}}]\n")
    held = load([str(path)], scheme="auto", today=date(2026, 6, 1), strict=False)
    found = compare(snapshot_of(case, "old"), snapshot_of(case, "new"), Ruling(suppressions=held))
    assert ("type_size_changed.handle" in {each.kind for each in with_consequences(found.suppressed)}) is taken
