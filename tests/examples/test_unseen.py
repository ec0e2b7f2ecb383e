"""The pairs that wait for rules not made yet hold together, without obtaining any of them."""

from __future__ import annotations

import csv
from itertools import pairwise

import pytest

from benchmarks.accuracy import truth
from benchmarks.accuracy.unseen import FOLDER, libraries, pairs, recipe

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("library", libraries())
def test_every_consecutive_pair_of_a_library_has_its_truth_and_reason(library: str) -> None:
    told = recipe(library)
    rows = list(csv.DictReader((FOLDER / f"{library}.csv").read_text().splitlines()))
    assert told["library"] == library
    assert [(row["old"], row["new"]) for row in rows] == list(pairwise(told["releases"]))
    assert {row[answer] for row in rows for answer in ("break", "source_break")} <= {"yes", "no"}
    assert all(row["reason"] for row in rows)


def test_none_of_the_libraries_was_judged_before() -> None:
    assert not set(libraries()) & {pair.library for pair in truth.pairs()}


def test_about_half_of_the_pairs_are_kept_for_the_end() -> None:
    kept = [pair for pair in pairs() if pair.kept]
    assert 0.35 < len(kept) / len(list(pairs())) < 0.65
