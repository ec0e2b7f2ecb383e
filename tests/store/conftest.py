"""A store's address on each database that is supported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.store import postgres

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session")
def empty_postgres(postgres_server: str) -> Callable[[], str]:
    """Makes an empty database; its URL."""

    def make() -> str:
        name = f"store{next(_numbers)}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgres_server.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture
def postgres_url(empty_postgres: Callable[[], str]) -> str:
    """The URL of an empty database."""
    return empty_postgres()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a store is to be created."""
    return str(request.getfixturevalue("path" if request.param == "sqlite" else "postgres_url"))
