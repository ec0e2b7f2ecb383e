"""A constant in the place of a predicate is found to change an answer, and leaves no trace."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.kept.answers import EVIDENCE
from benchmarks.accuracy.unseen import PARTS, UnseenPair
from benchmarks.accuracy.worth import trials
from benchmarks.accuracy.worth.page import page
from benchmarks.accuracy.worth.subjects import JUDGING, kinds, predicates
from benchmarks.accuracy.worth.tables import STEPS, Class, Together, classes, worths
from benchmarks.accuracy.worth.trials import FAILED, Answer, Asked, PairTrial, trial
from benchmarks.releases import made
from tests.project.trees import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

SPECIAL = """
from functools import cache, cached_property


@cache
def is_public(name: str) -> bool:
    return name != "internal"


@cache
def exports(names: tuple) -> list:
    return [name for name in names if is_public(name)]


class Names:
    def __init__(self, text: str) -> None:
        self.names = tuple(text.split())

    @cached_property
    def is_broken(self) -> bool:
        return not exports(self.names)

    @property
    def is_empty(self) -> bool:
        return self.names == ()

    def is_never_asked(self) -> bool:
        return True

    def verdict(self) -> str:
        return "BREAKING" if self.is_broken and not self.is_empty else "COMPATIBLE"
"""

FAILING = """
import os


class Names:
    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def is_endless(self) -> bool:
        return self.text == "endless"

    def is_deadly(self) -> bool:
        return self.text == "deadly"

    def is_recursive(self) -> bool:
        return self.text == "recursive"

    def verdict(self) -> str:
        while self.is_endless:
            pass
        if self.is_deadly():
            os._exit(1)
        return self.verdict() if self.is_recursive() else "COMPATIBLE"
"""


def pair(names: str, breaks: bool) -> Asked:
    """A pair that is judged by names alone."""
    truth = UnseenPair("libnames", "1", "2", breaks, False, names, PARTS["open"])
    return Asked(KeptPair(truth, made(1, 2), made(2, 2)), "headers")


def special(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str = SPECIAL) -> ModuleType:
    """A module with special cases. Each test has its own: a process keeps what it imported."""
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    return __import__(name)


def by_names(module: Any) -> Callable[[KeptPair], Answer]:
    """The judging of the module."""
    return lambda each: Answer(module.Names(each.pair.reason).verdict(), each.pair.reason)


def tried(module: ModuleType, pairs: Sequence[Asked]) -> tuple[PairTrial, ...]:
    """The pairs with each answer that a constant changes in the place of a module's predicate."""
    return trial(pairs, list(predicates([module.__name__])), "", by_names(module)).pairs


def test_a_constant_that_changes_a_verdict_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = special(tmp_path, monkeypatch, "special_changed")
    (broken, sound) = tried(module, [pair("internal", True), pair("function", False)])
    assert (broken.answer.verdict, sound.answer.verdict) == ("BREAKING", "COMPATIBLE")
    assert (broken.ran["special_changed.is_public"], sound.ran["special_changed.is_public"]) == ("no", "yes")
    assert broken.changed["special_changed.is_public always"].verdict == "COMPATIBLE"
    assert sound.changed["special_changed.is_public never"].verdict == "BREAKING"


def test_caches_of_one_replacement_do_not_reach_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = special(tmp_path, monkeypatch, "special_cached")
    (first, second) = tried(module, [pair("internal function", False), pair("internal function", False)])
    assert first == second
    assert first.changed["special_cached.is_public never"].verdict == "BREAKING"
    assert first.changed["special_cached.Names.is_broken always"].verdict == "BREAKING"
    assert "special_cached.is_public always" not in first.changed
    assert by_names(module)(pair("function", False).kept).verdict == "COMPATIBLE"


def test_a_constant_that_recurs_hangs_or_ends_the_process_fails_on_each_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "SECONDS", 0.2)
    module = special(tmp_path, monkeypatch, "special_failing", FAILING)
    pairs = tried(module, [pair("function", False), pair("internal", True)])
    for name in ("is_endless", "is_deadly", "is_recursive"):
        assert [each.changed[f"special_failing.Names.{name} always"] for each in pairs] == [FAILED, FAILED]


def test_what_a_table_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = special(tmp_path, monkeypatch, "special_counted")
    pairs = [pair("internal", True), pair("internal", False), pair("function internal", False)]
    found = list(predicates([module.__name__]))
    rows = worths([trial(pairs, found, "", by_names(module))], found)
    told = {(row.name.removeprefix("special_counted."), *row[2:4]): row for row in rows}
    always = told["is_public", "always", "headers"]
    assert (always.ran, always.varied, always.differed, always.findings, always.verdicts) == (3, 1, 3, 2, 2)
    assert (always.breaking_gained, always.breaking_lost, always.gate_gained, always.gate_lost) == (1, 1, 1, 1)
    never = told["is_public", "never", "headers"]
    assert (never.differed, never.breaking_gained, never.breaking_lost, never.fails) == (1, 0, 1, 0)
    named = {row.name.rpartition(".")[2]: each for row, each in classes(rows).items()}
    assert named["is_never_asked"] is Class.NEVER_RAN
    assert named["is_empty"] is Class.ONE_ANSWER
    assert named["is_public"] is Class.NEITHER
    halves = product(STEPS, (0, 1), EVIDENCE)
    at_once = [Together(*each, 1, 2, *[0] * 7) for each in halves]
    said = "\n".join(page(rows, at_once))
    assert "4 release pairs with known truth" in said
    assert "| never ran | 1 and 1 | headers | 0 of 4 | 0 | 0 -> 0 | 0 -> 0 | 0 |" in said


def test_a_kind_that_is_never_found_changes_the_verdict() -> None:
    removed = [each for each in kinds() if each.name == "func_removed"]
    breaking = KeptPair(UnseenPair("libgrowing", "1", "2", True, False, "", PARTS["open"]), made(1, 20), made(1, 10))
    (told,) = trial([Asked(breaking, "files")], removed, "").pairs
    assert told.answer.verdict == "BREAKING"
    assert told.ran == {"func_removed": "yes"}
    assert told.changed["func_removed never"].verdict != "BREAKING"


def yes_no_functions(path: Path) -> int:
    """How many functions of a file are annotated ``-> bool`` and not abstract."""
    return sum(
        isinstance(node, ast.FunctionDef)
        and node.returns is not None
        and ast.unparse(node.returns) == "bool"
        and "abstractmethod" not in map(ast.unparse, node.decorator_list)
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_every_yes_no_function_of_the_judging_is_replaced() -> None:
    places = [ROOT / package.replace(".", "/") for package in JUDGING]
    paths = [path for place in places for path in (*place.rglob("*.py"), place.with_suffix(".py"))]
    written = sum(yes_no_functions(path) for path in paths if path.exists())
    assert len({each.name for each in predicates()}) == written > 0
