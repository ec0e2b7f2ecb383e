"""Wherever a surface states an outcome, a reason or an exit code, it is the same: over drawn histories of a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.laws.decisions import LawOfOneDecision, Tally


@pytest.mark.parametrize("seed", range(25))
def test_every_surface_states_one_decision(seed: int, tmp_path: Path) -> None:
    tally = Tally()
    LawOfOneDecision(seed, tmp_path, tally).check()
    assert not tally.contradictions
    assert len(tally.statements) > 20


@pytest.mark.parametrize("seed", range(8))
def test_every_surface_obeys_a_bound_rule(seed: int, tmp_path: Path) -> None:
    tally = Tally()
    LawOfOneDecision(seed, tmp_path, tally, bound=True).check()
    assert not tally.contradictions
