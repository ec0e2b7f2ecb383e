"""Asking changes nothing: not one byte of the database, whatever is asked and whoever asks."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from mcp import Client

from abistore.errors import StoreError
from abistore.interface import IngestPlan, history, ingest, open_store, verdict
from tests.mcp.conftest import Agent, fill
from tests.mcp.every import everything


def data_version(connection: sqlite3.Connection) -> int:
    ((number,),) = connection.execute("PRAGMA data_version")
    assert isinstance(number, int)
    return number


def test_all_that_is_offered_leaves_the_database_as_it_was(
    agent: Agent, libraries: dict[str, Path], tmp_path: Path
) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
    before = sha256(database.read_bytes()).hexdigest()
    watching = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    seen = data_version(watching)

    async def asked(client: Client) -> list[str]:
        return await everything(client, libraries["2.0"])

    assert len(agent.set(database=str(database)).ask(asked)) > 30
    assert data_version(watching) == seen
    watching.close()
    assert sha256(database.read_bytes()).hexdigest() == before


def test_a_store_that_is_opened_for_reading_is_not_written_to(libraries: dict[str, Path], tmp_path: Path) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
    before = database.read_bytes()
    with open_store(database, read_only=True) as store:
        assert verdict("libgeo@2.0", database=store).remembered is False
        assert verdict("libgeo@2.0", database=store).remembered is False
        (found,) = history("libgeo", database=store)
        assert found.rows[2].verdict is not None
        with pytest.raises(StoreError, match="opened for reading only"):
            ingest(libraries["1.0"], IngestPlan(version="9"), database=store)
    assert database.read_bytes() == before
