"""Damaged dumps of other tools: each gives a snapshot or an error with a code, within limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.dump_mutations import SEEDS, outcomes

pytestmark = pytest.mark.full

COUNT = 70
"""Damaged copies of each format; ``python -m benchmarks.dump_mutations`` makes 2,000."""


@pytest.mark.parametrize("form", sorted(SEEDS))
def test_a_damaged_dump_gives_a_snapshot_or_an_error(form: str, tmp_path: Path) -> None:
    found = outcomes(form, COUNT, tmp_path)
    assert found.total() == COUNT
    assert found["snapshot"]
    assert found["extract"]
