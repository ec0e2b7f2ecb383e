"""Several writers of one PostgreSQL database: what conflicts is begun again, and rows that many share add up."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import DeadlockDetected, SerializationFailure
from sqlalchemy.exc import OperationalError

from abistore.errors import StoreBusy
from abistore.model.history import IngestOutcome, IngestRequest
from abistore.model.snapshot import Snapshot
from abistore.store import database as connected
from abistore.store.database import ATTEMPTS
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot

NAMES = [f"shared_{number}" for number in range(500)]


def exporting(marker: str, *names: str) -> Snapshot:
    return snapshot(marker, symbols={function(name): EXPORTED for name in names})


def conflict(cause: Exception) -> StoreBusy:
    error = StoreBusy("another session locks the database")
    error.__cause__ = OperationalError("INSERT", {}, cause)
    return error


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connected, "PAUSE", 0.0)


@pytest.mark.parametrize("cause", [DeadlockDetected(), SerializationFailure()])
def test_what_meets_a_conflict_is_begun_again(cause: Exception, path: Path, impatient: None) -> None:
    told: list[int] = []

    def act() -> str:
        told.append(1)
        if len(told) < ATTEMPTS:
            raise conflict(cause)
        return "done"

    with Store.open(path, write=True) as store:
        assert store.database.retried(act) == "done"


def test_what_always_meets_a_conflict_ends(path: Path, impatient: None) -> None:
    told: list[int] = []

    def act() -> None:
        told.append(1)
        raise conflict(DeadlockDetected())

    with Store.open(path, write=True) as store, pytest.raises(StoreBusy):
        store.database.retried(act)
    assert len(told) == ATTEMPTS


def test_another_error_is_raised_at_once(path: Path) -> None:
    told: list[int] = []

    def act() -> None:
        told.append(1)
        raise StoreBusy("another process locks the database")

    with Store.open(path, write=True) as store, pytest.raises(StoreBusy):
        store.database.retried(act)
    assert len(told) == 1


def test_within_a_transaction_nothing_is_begun_again(path: Path) -> None:
    told: list[int] = []

    def act() -> None:
        told.append(1)
        raise conflict(DeadlockDetected())

    with Store.open(path, write=True) as store, pytest.raises(StoreBusy), store.transaction():
        store.database.retried(act)
    assert len(told) == 1


def test_an_ingest_that_a_deadlock_ends_is_stored(postgres_store: str) -> None:
    with Store.open(postgres_store, write=True) as store:
        store.ingest(exporting("1", "first"), IngestRequest("1.0"))
        store.database.command("SET deadlock_timeout = '3s'")
        with ThreadPoolExecutor(1) as thread, psycopg.connect(postgres_store) as other:
            other.execute("SET deadlock_timeout = '1min'")  # so that the ingest is the one that is ended
            other.execute("SELECT audit FROM root FOR UPDATE")
            later = thread.submit(store.ingest, exporting("2", "second"), IngestRequest("2.0"))
            _wait_for_a_lock(postgres_store, later)
            other.execute("SELECT id FROM line FOR UPDATE")
            other.rollback()
            assert later.result().release.version == "2.0"
        assert store.check() == ()


def _wait_for_a_lock(address: str, later: Future[IngestOutcome]) -> None:
    with psycopg.connect(address, autocommit=True) as watching:
        while not watching.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            assert not later.done(), later.exception()


def _stored(address: str, library: int) -> None:
    with Store.open(address, write=True) as store:
        for version in range(3):
            names = NAMES[(library * 50 + version) % 200 : 300]
            store.ingest(
                exporting(f"{library} {version}", *names), IngestRequest(f"{version}", library=f"lib{library}")
            )


def test_writers_of_libraries_that_share_names_lose_nothing(postgres_store: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda library: _stored(postgres_store, library), range(4)))
    with Store.open(postgres_store, write=False) as store:
        assert store.check() == ()
        assert store.stats().releases == 12


def _stored_together(address: str, library: int) -> None:
    """Store releases in one transaction, whose new names are those of the others, in another order."""
    with Store.open(address, write=True) as store:
        for batch in range(5):
            with store.batch():
                for turn in range(4):
                    place = 10 * batch + (library + turn) % 4
                    request = IngestRequest(f"{batch}.{turn}", library=f"lib{library}")
                    store.ingest(exporting(f"{library} {place}", *NAMES[10 * place : 10 * place + 30]), request)


def test_batches_of_several_writers_never_wait_for_each_other_in_a_circle(postgres_store: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda library: _stored_together(postgres_store, library), range(4)))
    with Store.open(postgres_store, write=False) as store:
        assert store.check() == ()
        assert store.stats().releases == 80
