"""What an administrator asks of a store."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from abistore.errors import StoreError
from abistore.model.history import IngestRequest
from abistore.store.database import HEAD
from abistore.store.opening import copy_beside
from abistore.store.store import Store
from tests.store.builders import large
from tests.store.sql import sql


@pytest.fixture
def filled(path: Path) -> Path:
    with Store.open(path, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))
        store.ingest(large(9, step=1), IngestRequest("1.1"))
        store.ingest(large(9, step=2), IngestRequest("1.1", replace=True))
    return path


def test_stats_count_what_is_there(filled: Path) -> None:
    with Store.open(filled, write=False) as store:
        stats = store.stats()
    assert (stats.revision, stats.libraries, stats.lines, stats.releases, stats.superseded) == (HEAD, 1, 1, 2, 1)
    assert stats.names == 401  # 200 functions, 200 records and the library
    assert stats.size >= filled.stat().st_size
    assert stats.audit_records == 4


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE shape SET body = replace(body, 'geo::norm7', 'geo::norm8')", "has another digest"),
        ("UPDATE entry SET first_seq = 2 WHERE first_seq = 1 AND facet = 0", "an entry is missing or was changed"),
        ("UPDATE shape SET body = '[\"Nothing\"]' WHERE id = 1", "has another digest"),
        ("UPDATE location SET body = x'00' WHERE snapshot_id = 1", "locations are missing or were changed"),
    ],
)
def test_a_check_finds_what_was_changed_behind_its_back(filled: Path, damage: str, problem: str) -> None:
    with Store.open(filled, write=True) as store:
        assert store.check() == ()
        sql(store.database, damage)
        assert any(problem in sentence for sentence in store.check())


def test_a_check_finds_what_refers_to_nothing(filled: Path) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, "PRAGMA foreign_keys = OFF")
        sql(store.database, "DELETE FROM name WHERE id = 5")
        assert any("refers to nothing in name" in sentence for sentence in store.check())


def test_a_damaged_snapshot_does_not_load(filled: Path) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, "UPDATE shape SET body = 'x'")
        with pytest.raises(StoreError, match="damaged"):
            store.load(store.resolve("liblarge@1.0"))


@pytest.mark.parametrize("damage", ["evidence = '[7]'", "ingested = 'yesterday'"])
def test_a_damaged_card_is_told(filled: Path, damage: str) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, f"UPDATE snapshot SET {damage}")
        with pytest.raises(StoreError, match="the card of liblarge"):
            store.releases("liblarge")


def test_a_backup_is_a_store_of_its_own(filled: Path, tmp_path: Path) -> None:
    with Store.open(filled, write=True) as store, store.database.transaction():
        sql(store.database, "DELETE FROM audit")
        copy = store.backup(tmp_path / "copy.db")
    with Store.open(copy, write=False) as backup, Store.open(filled, write=False) as store:
        assert backup.check() == ()
        assert backup.stats().audit_records == 4
        assert backup.load(backup.resolve("liblarge@1.1")) == store.load(store.resolve("liblarge@1.1"))


def test_a_backup_can_be_read_by_nobody_who_may_not_read_the_store(filled: Path, tmp_path: Path) -> None:
    filled.chmod(0o600)
    with Store.open(filled, write=False) as store:
        assert store.backup(tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_a_backup_is_written_through_no_link(filled: Path, tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("kept")
    (tmp_path / f"copy.db.{os.getpid()}.partial").symlink_to(precious)
    with Store.open(filled, write=False) as store, pytest.raises(StoreError, match="cannot be written"):
        store.backup(tmp_path / "copy.db")
    assert precious.read_text() == "kept"


def test_a_backup_overwrites_nothing(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    with Store.open(filled, write=False) as store, pytest.raises(StoreError, match="exists"):
        store.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_a_backup_into_a_missing_folder_is_told(filled: Path, tmp_path: Path) -> None:
    with Store.open(filled, write=False) as store, pytest.raises(StoreError):
        store.backup(tmp_path / "missing" / "copy.db")


def test_a_server_is_not_backed_up_here(postgres_url: str, tmp_path: Path) -> None:
    with Store.open(postgres_url, write=True) as store, pytest.raises(StoreError) as caught:
        store.backup(tmp_path / "copy.db")
    assert "pg_dump" in caught.value.hint


def test_vacuum_gives_space_back(filled: Path) -> None:
    with Store.open(filled, write=True) as store:
        sql(store.database, "CREATE TABLE ballast (body BLOB)")
        sql(store.database, "INSERT INTO ballast VALUES (zeroblob(1000000))")
        sql(store.database, "DROP TABLE ballast")
        before, after = store.vacuum()
        assert before - after >= 1000000
        assert store.check() == ()


def test_stats_check_and_vacuum_work_on_a_server(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))
        assert store.stats().names == 401
        assert store.check() == ()
        assert min(store.vacuum()) > 0
        sql(store.database, "UPDATE shape SET body = replace(body, 'geo::norm7', 'geo::norm8')")
        assert any("another digest" in sentence for sentence in store.check())


def test_text_that_is_not_utf8_is_damage(filled: Path) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("UPDATE name SET spelling = CAST(x'fffe' AS TEXT) WHERE id = 5")
        connection.commit()
    with Store.open(filled, write=False) as store:
        assert any("damaged" in problem for problem in store.check())
        with pytest.raises(StoreError, match="damaged"):
            store.load(store.releases("liblarge")[0])


def test_bytes_that_are_flipped_all_over_are_damage(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    for place in range(8192, len(content), 997):
        content[place] ^= 0xFF
    filled.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"), Store.open(filled, write=False) as store:
        store.load(store.releases("liblarge")[0])


def test_what_a_killed_copy_left_is_removed_by_the_next(path: Path) -> None:
    Store.open(path, write=True).close()
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    left = path.with_name(f"{path.name}.0005.backup.{ended.pid}.partial")
    journal = left.with_name(f"{left.name}-journal")
    running = path.with_name(f"{path.name}.0005.backup.{os.getppid()}.partial")
    for each in (left, journal, running):
        each.write_bytes(b"half")
    with Store.open(path, write=False) as store:
        copy_beside(store.database, "test")
    assert [each.exists() for each in (left, journal, running)] == [False, False, True]
