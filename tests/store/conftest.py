"""A store's address on each database that is supported."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a store is created when it is opened. A server has it already, as a copy of a new one, which is faster."""
    return str(request.getfixturevalue("path" if request.param == "sqlite" else "postgres_store"))


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_address(request: pytest.FixtureRequest) -> str:
    """Where nothing is yet."""
    return str(request.getfixturevalue("path" if request.param == "sqlite" else "postgres_url"))
