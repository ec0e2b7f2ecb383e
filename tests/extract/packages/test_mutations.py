from __future__ import annotations

from pathlib import Path

import pytest

from tests.extract.packages.mutations import kinds, outcomes

pytestmark = pytest.mark.full

COUNT = 20
"""Of each of eleven kinds; ``python -m tests.extract.packages.mutations`` reads 2,000 of each."""


def test_damaged_packages_give_snapshots_or_errors_with_a_code(tmp_path: Path) -> None:
    for name, make in kinds(tmp_path):
        found = outcomes(make, COUNT, tmp_path).counts
        assert found.total() == COUNT, name
        assert found["snapshots"] < COUNT, name
