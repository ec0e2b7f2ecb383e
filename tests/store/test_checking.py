"""What a check of a store looks at."""

from __future__ import annotations

import pytest

from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, large, snapshot
from tests.store.sql import sql


@pytest.fixture
def filled(address: str) -> str:
    with Store.open(address, write=True) as store:
        for step in range(4):
            store.ingest(large(9, names=40, step=step), IngestRequest(f"1.{step}"))
        store.ingest(snapshot(symbols={function("f"): EXPORTED}), IngestRequest("1.0"))
    return address


def test_a_check_tells_what_it_looks_at(filled: str) -> None:
    told: list[tuple[str, float]] = []
    with Store.open(filled, write=False) as store:
        assert store.check(progress=lambda what, done: told.append((what, done))) == ()
    assert [done for _, done in told] == sorted(done for _, done in told)
    assert {"names", "shapes", "the audit", "liblarge (elf-x86_64-64-little, default)"} <= {what for what, _ in told}


def test_a_quick_check_looks_at_the_sums_and_at_no_shape(filled: str) -> None:
    told: list[str] = []
    with Store.open(filled, write=True) as store:
        sql(store.database, "UPDATE shape SET body = replace(body, 'geo::norm7', 'geo::norm8')")
        assert store.check(quick=True, progress=lambda what, _: told.append(what)) == ()
        assert "shapes" not in told
        assert store.check() != ()
        sql(store.database, "DELETE FROM audit WHERE id = 2")
        assert any("the audit was changed, or lacks a row" in problem for problem in store.check(quick=True))


def test_a_check_names_the_release_that_an_entry_was_taken_from(filled: str) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, "DELETE FROM entry WHERE last_seq = 1 AND facet = 1")
        found = store.check()
    assert any("liblarge (elf-x86_64-64-little, default) 1.0, number 1: an entry is missing" in one for one in found)
    assert not any("1.1, number 2" in one for one in found)


def test_a_check_goes_on_after_what_it_cannot_read(filled: str) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, "UPDATE library SET scheme = 'semver' WHERE name = 'libgeo'")
        sql(store.database, "UPDATE shape SET body = replace(body, 'geo::norm7', 'geo::norm8')")
        found = store.check()
    assert any("the row of library libgeo" in problem for problem in found)
    assert any("its body has another digest" in problem for problem in found)


def test_an_index_of_a_server_that_lacks_a_row_is_found(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        store.ingest(large(names=20), IngestRequest("1.0"))
        ready = "UPDATE pg_index SET indisready = ? WHERE indexrelid = 'ix_snapshot_sha256'::regclass"
        sql(store.database, ready, False)
        store.ingest(large(3, names=20, step=1), IngestRequest("1.1"))
        sql(store.database, ready, True)
        assert any("index ix_snapshot_sha256" in problem for problem in store.check(quick=True))
