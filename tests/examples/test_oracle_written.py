"""Written edits: programs show what was written down, and abistore says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.oracle.written.building import built
from benchmarks.oracle.written.edit import MAKERS, Edit, written
from benchmarks.oracle.written.judging import wrong

pytestmark = pytest.mark.full

EDITS = {each.title: each for each in written()}
BREAK = "a buffer that programs give must be longer"
SAFE = "a union gets a smaller member"


def test_each_edit_has_a_title_of_its_own_and_what_it_is_made_of() -> None:
    assert len(EDITS) == len(written())
    for each in EDITS.values():
        assert each.breaks in (MAKERS, (), ("clang",))
        assert {"header", "source", "client"} <= each.texts.keys()
        assert all(reason for reason in each.known.values())


def test_marked_lines_belong_to_one_side() -> None:
    edit = Edit("one", (), {"header": "int a;\n-int b;\n+int c;\n"})
    assert edit.text("header", "old") == "int a;\n int b;\n"
    assert edit.text("header", "new") == "int a;\n int c;\n"
    assert edit.text("map", "old") == ""


@pytest.mark.parametrize("title", [BREAK, SAFE])
def test_programs_show_what_was_written_and_abistore_tells_it(title: str, tmp_path: Path) -> None:
    edit = EDITS[title]
    assert {each.word for each in wrong(built(edit, tmp_path))} <= {"known"}


@pytest.mark.parametrize(("title", "opposite", "word"), [(BREAK, (), "false"), (SAFE, MAKERS, "missed")])
def test_a_wrong_truth_is_found_out(title: str, opposite: tuple[str, ...], word: str, tmp_path: Path) -> None:
    found = list(wrong(built(replace(EDITS[title], breaks=opposite, known={}), tmp_path)))
    assert found[0].way == "truth"
    assert ("gcc with headers", word) in [(each.way, each.word) for each in found]
