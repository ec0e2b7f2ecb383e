"""No suppression of namespaces or files hides a break that code in public headers compiles into programs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.suppression_files import load
from abistore.model.findings import Comparison, Verdict
from abistore.model.snapshot import Snapshot
from tests.public_headers import implementing

USED = "namespace geo { inline int run() { detail::P p{}; return detail::imp(p); } }"
UNUSED = "namespace geo { int run(); namespace detail { inline int own() { P p{}; return imp(p); } } }"


def library(members: str, public: str) -> Snapshot:
    """A library with all its headers."""
    inside = f"#pragma once\nnamespace geo {{ namespace detail {{ struct P {{ {members} }}; int imp(const P &); }} }}"
    return implementing({"detail/p.h": inside, "run.h": f'#include "detail/p.h"\n{public}'})


def judged(tmp_path: Path, entry: str, public: str) -> Comparison:
    path = tmp_path / "known.yaml"
    path.write_text(f"suppressions: [{entry}]")
    ruling = Ruling(suppressions=load([str(path)], scheme="auto", today=date(2026, 6, 1), strict=False))
    return compare(library("int last;", public), library("int first; int last;", public), ruling)


@pytest.mark.parametrize(
    "entry", ["namespace: 'geo::detail'", "namespace: 'geo::detail::**'", "source_location: 'detail/*'"]
)
def test_a_break_that_public_code_compiles_in_stays_a_finding(tmp_path: Path, entry: str) -> None:
    comparison = judged(tmp_path, f"{{{entry}, reason: internal}}", USED)
    assert comparison.verdict is Verdict.BREAKING
    assert any("geo::detail::P, which is compiled into programs by geo::run()" in each for each in comparison.notes)
    assert not any("matched nothing" in each for each in comparison.notes)


@pytest.mark.parametrize("entry", ["namespace: 'geo::detail'", "namespace: 'geo::detail::**'", "namespace: geo"])
def test_what_only_code_of_the_same_namespace_compiles_in_is_suppressed(tmp_path: Path, entry: str) -> None:
    comparison = judged(tmp_path, f"{{{entry}, reason: internal}}", UNUSED)
    assert comparison.verdict is Verdict.NO_CHANGE and comparison.suppressed


def test_the_type_itself_can_be_accepted(tmp_path: Path) -> None:
    comparison = judged(tmp_path, "{type: 'geo::detail::P', reason: accepted}", USED)
    assert comparison.verdict is Verdict.NO_CHANGE and comparison.suppressed
