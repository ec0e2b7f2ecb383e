"""Names that are longer than a database can index."""

from __future__ import annotations

import random
import string

import pytest

from abistore.errors import StoreError
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, record, snapshot, struct
from tests.store.sql import sql


def long_spelling(size: int, seed: int = 1) -> str:
    """Letters that do not compress: PostgreSQL compresses what it indexes first."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=size))


@pytest.mark.parametrize("size", [2_704, 2_713, 9_000, 300_000])
def test_a_name_of_any_length_is_stored_found_and_told(address: str, size: int) -> None:
    spelling = long_spelling(size)
    first = snapshot("1", symbols={function(spelling): EXPORTED}, layout={record(spelling): struct("x")})
    second = snapshot("2", symbols={}, layout={record(spelling): struct("x", "y")})
    with Store.open(address, write=True) as store:
        for version, content in (("1.0", first), ("1.1", second)):
            store.ingest(content, IngestRequest(version))
        assert store.load(store.resolve("libgeo@1.0")).entries == first.entries
        (events,) = store.logs([spelling]).values()
        assert store.check() == ()
    assert [(event.release.version, event.action, event.name.kind) for event in events] == [
        ("1.0", "appeared", "function"),
        ("1.1", "vanished", "function"),
        ("1.0", "appeared", "record"),
        ("1.1", "changed", "record"),
    ]


def test_names_that_differ_at_their_very_end_are_two(address: str) -> None:
    spelling = long_spelling(5_000)
    names = {Name("function", spelling + end): EXPORTED for end in "ab"}
    with Store.open(address, write=True) as store:
        release = store.ingest(snapshot(symbols=names), IngestRequest("1.0")).release
        assert store.load(release).entries["symbol"].keys() > names.keys()


def test_what_a_server_cannot_hold_is_not_told_as_a_lost_connection(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        sql(store.database, "CREATE TABLE narrow (word TEXT UNIQUE)")
        with pytest.raises(StoreError, match="larger than PostgreSQL supports") as caught:
            sql(store.database, "INSERT INTO narrow VALUES (?)", long_spelling(9_000))
        assert "connection" not in caught.value.message
        with pytest.raises(StoreError) as caught:
            sql(store.database, "SELECT repeat('x', 2000000000)")
        assert "connection" not in caught.value.message
