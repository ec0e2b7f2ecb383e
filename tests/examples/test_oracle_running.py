"""Drawn edits: programs tell what an operator breaks, and every operator finds something to change."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.oracle.running.asking import Asker
from benchmarks.oracle.running.draft import Draft, Nothing, Sources, load, names
from benchmarks.oracle.running.drawing import drawn
from benchmarks.oracle.running.operators import OPERATORS
from benchmarks.oracle.running.truth import Built, Clients, Truth, build, clients

pytestmark = pytest.mark.full

TRIES = 40


def edited(sources: Sources, operator: str) -> Sources | None:
    """A library with the first edit of an operator that finds something to change."""
    for seed in range(TRIES):
        draft = Draft(sources, Random(seed))
        try:
            OPERATORS[operator].change(draft)
        except (Nothing, ValueError, IndexError):
            continue
        return draft.sources
    return None


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Clients:
    folder = tmp_path_factory.mktemp("shapes")
    return clients("shapes", build(load("shapes"), folder), folder)


def test_a_seed_always_draws_the_same_edit() -> None:
    one, same, other = (next(drawn(seed)) for seed in (3, 3, 4))
    assert (one.title, one.digest) == (same.title, same.digest)
    assert one.digest != other.digest


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_an_operator_changes_some_library_and_always_in_the_same_way(operator: str) -> None:
    made = {name: edited(load(name), operator) for name in names()}
    found = {name: sources for name, sources in made.items() if sources}
    assert found
    assert all(edited(load(name), operator) == sources for name, sources in found.items())


@pytest.mark.parametrize(
    ("operator", "truth", "verdicts"),
    [
        ("insert field", Truth.BREAKING, {"BREAKING"}),
        ("swap fields", Truth.BREAKING, {"BREAKING"}),
        ("rename field", Truth.API_BREAK, {"API_BREAK"}),
        ("add function", Truth.HARMLESS, {"COMPATIBLE"}),
        ("build with -O2", Truth.HARMLESS, {"NO_CHANGE", "COMPATIBLE"}),
    ],
)
def test_programs_show_the_truth_and_abistore_tells_it(
    operator: str, truth: Truth, verdicts: set[str], users: Clients, tmp_path: Path
) -> None:
    sources = edited(load("shapes"), operator)
    assert sources
    new = build(sources, tmp_path)
    assert users.truth(new, tmp_path)[0] is truth
    assert Asker().answers(users.old, new)["headers"]["verdict"] in verdicts


def test_programs_that_run_alike_twice_are_of_the_same_library(users: Clients, tmp_path: Path) -> None:
    same: Built = build(load("shapes"), tmp_path)
    assert users.truth(same, tmp_path) == (Truth.HARMLESS, "")
