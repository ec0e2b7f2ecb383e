"""A hundred drawn edits of small libraries, whose truth programs showed: what abistore says of each, and two laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Comparison, Finding
from abistore.model.snapshot import Snapshot
from benchmarks.oracle.running import keeping
from benchmarks.oracle.running.asking import MODES
from benchmarks.oracle.running.keeping import COUNT, KeptEdit
from benchmarks.oracle.running.operators import OPERATORS
from benchmarks.oracle.running.page import PAGE
from benchmarks.oracle.running.reasons import reason, reasons
from benchmarks.oracle.running.results import judged

pytestmark = pytest.mark.fast

PASSES = ("NO_CHANGE", "COMPATIBLE", "COMPATIBLE_WITH_RISK")
"""Verdicts with exit code 0."""

OPPOSITE = {"func_removed": "func_added", "var_removed": "var_added", "enum_removed": "enum_added"}
"""What is removed one way and added the other."""


@pytest.fixture(scope="module")
def kept() -> list[KeptEdit]:
    return keeping.read()


@pytest.fixture(scope="module")
def sides(kept: list[KeptEdit]) -> list[tuple[KeptEdit, str, Snapshot, Snapshot]]:
    return list(keeping.pairs(kept))


def test_each_kept_edit_has_its_verdicts(kept: list[KeptEdit], request: pytest.FixtureRequest) -> None:
    now = keeping.answers(kept)
    if request.config.getoption("--update-cases"):
        keeping.write_verdicts(kept, now)
        kept = keeping.read()
    assert len(kept) == COUNT
    moved = [f"seed {each.seed} {each.title}: {each.verdicts} -> {now[each.seed]}" for each in kept]
    moved = [line for line, each in zip(moved, kept, strict=True) if each.verdicts != now[each.seed]]
    assert not moved, "\n".join(["`tests/run tests/edits --update-cases` keeps what is said now:", *moved])


def test_every_answer_that_is_not_the_truth_has_a_reason(kept: list[KeptEdit]) -> None:
    listed = reasons()
    wrong = [
        f"{word} {mode} seed {each.seed} {each.title}"
        for each in kept
        for mode, word in each.words(each.verdicts).items()
        if word not in ("true", "not shown") and not (word == "source missed" and mode == "files")
        if not reason(listed, word, mode, each.operators)
    ]
    assert wrong == []


def test_kept_edits_are_of_every_truth_and_of_many_operators(kept: list[KeptEdit]) -> None:
    truths = Counter(each.truth for each in kept)
    assert truths["BREAKING"] >= COUNT // 2
    assert min(truths[truth] for truth in keeping.SHARES) > 1
    assert len({each.title.partition(":")[2].partition("(")[0] for each in kept}) >= 60


@pytest.mark.parametrize("less", ["files", "stripped"])
def test_more_evidence_never_turns_a_true_break_into_a_pass(less: str, kept: list[KeptEdit]) -> None:
    breaks = [
        dict(zip(MODES, each.verdicts, strict=True), title=each.title) for each in kept if each.truth == "BREAKING"
    ]
    found = [each for each in breaks if each[less] not in PASSES]
    assert found
    assert [each["title"] for each in found if each["headers"] in PASSES] == []


def test_swapping_the_sides_swaps_added_and_removed(
    sides: list[tuple[KeptEdit, str, Snapshot, Snapshot]],
) -> None:
    removed = 0
    for edit, mode, old, new in sides:
        forward, backward = list(changes(compare(old, new))), list(changes(compare(new, old)))
        for gone, come in OPPOSITE.items():
            lost = {each.name for each in forward if each.kind == gone}
            gained = {each.name for each in backward if each.kind == come}
            removed += len(lost)
            assert lost <= gained, (edit.title, mode)
    assert removed > COUNT // 10


def test_an_answer_that_is_milder_than_the_truth_is_found_out() -> None:
    assert judged("BREAKING", "COMPATIBLE_WITH_RISK") == "missed"
    assert judged("BREAKING", "API_BREAK") == "milder"
    assert judged("API_BREAK", "COMPATIBLE") == "source missed"
    assert judged("HARMLESS", "API_BREAK") == "false"
    assert judged("HARMLESS", "BREAKING", unshown=True) == "not shown"
    assert judged("OTHER_MEANING", "BREAKING") == "overstated"


def changes(found: Comparison) -> Iterator[Finding]:
    yield from everything(found.findings)


def everything(findings: Iterable[Finding]) -> Iterator[Finding]:
    for each in findings:
        yield each
        yield from everything(each.consequences)


def test_the_page_has_a_row_for_each_operator() -> None:
    text = PAGE.read_text()
    assert [name for name in OPERATORS if f"\n| {name} | " not in text] == []
