"""A store's address on each database that is supported."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a store is to be created."""
    return str(request.getfixturevalue("path" if request.param == "sqlite" else "postgres_url"))
