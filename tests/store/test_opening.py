"""Databases that are not there, not ours, not readable, or not writable."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from abistore.errors import SchemaMismatch, StoreBusy, StoreError, UsageError
from abistore.model.history import IngestRequest
from abistore.store.opening import initialise
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, large, snapshot
from tests.store.sql import sql

CONTENT = snapshot(symbols={})


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without the superuser's right to write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    root = Path(tempfile.mkdtemp(prefix="abistore-", dir="/tmp"))
    root.chmod(0o755)
    yield root
    shutil.rmtree(root)


def test_a_store_is_created_on_first_use_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "store.db"
    with Store.open(path, write=True) as store:
        assert store.lines() == ()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store.open(path, write=False) as store:
        assert store.lines() == ()


def test_integrity_is_enforced(address: str) -> None:
    with Store.open(address, write=True) as store, pytest.raises(Exception, match=r"(?i)foreign key"):
        columns = "line_id, channel, moved, actor, reason, checksum"
        sql(store.database, f"INSERT INTO baseline_move ({columns}) VALUES (7, 'a', 'b', 'c', 'd', 1)")


def test_initialising_tells_whether_it_created(empty_address: str) -> None:
    assert [initialise(empty_address), initialise(empty_address)] == [(True, None), (False, None)]


def test_initialising_tells_the_outermost_folder_that_it_made(tmp_path: Path) -> None:
    assert initialise(tmp_path / "a" / "b" / "abi.db") == (True, tmp_path / "a")
    assert initialise(tmp_path / "a" / "b" / "abi.db") == (False, None)


def test_a_missing_database_is_told_where_it_may_not_be_created(path: Path) -> None:
    with pytest.raises(StoreError, match="no such database") as caught:
        Store.open(path, write=False, create=False)
    assert "abistore db init" in caught.value.hint
    assert not path.exists()


def test_an_empty_database_is_told_where_it_may_not_be_created(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="is empty"):
        Store.open(postgres_url, write=True, create=False)


@pytest.mark.parametrize(
    "content", [b"hello, this is text\n" * 50, b"\x7fELF" + bytes(2000), b"SQLite format 3\0" + b"x" * 200]
)
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for write in (True, False):
        with pytest.raises(StoreError):
            Store.open(path, write=write)
    assert path.read_bytes() == content


def test_a_damaged_store_is_told(path: Path) -> None:
    with Store.open(path, write=True) as store:
        release = store.ingest(large(), IngestRequest("1.0")).release
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreError), Store.open(path, write=False) as store:
        store.load(release)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path, write=True)


def test_a_device_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (Path(os.devnull), tmp_path / "pipe"):
        with pytest.raises(StoreError, match="is not a file"):
            Store.open(place, write=True)


def test_another_programs_database_is_refused_and_left_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (id INTEGER)")
    before = path.read_bytes()
    for write in (True, False):
        with pytest.raises(SchemaMismatch, match="another program"):
            Store.open(path, write=write)
    assert path.read_bytes() == before


def test_a_database_with_another_application_id_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")
        connection.execute("VACUUM")
    with pytest.raises(SchemaMismatch, match="another program"):
        Store.open(path, write=True)


def test_another_programs_postgresql_database_is_refused(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (id INTEGER)")
    with pytest.raises(SchemaMismatch, match="another program"):
        Store.open(postgres_url, write=True)


def test_a_newer_schema_is_refused(address: str) -> None:
    with Store.open(address, write=True) as store:
        sql(store.database, "UPDATE abistore_version SET version_num = '9999'")
    for write in (True, False):
        with pytest.raises(SchemaMismatch, match="newer schema 9999") as caught:
            Store.open(address, write=write)
    assert "newer one" in caught.value.hint


@pytest.mark.parametrize("change", ["version_num = 'deadbeef'", "version_num = ''"])
def test_an_unreadable_revision_is_refused(address: str, change: str) -> None:
    with Store.open(address, write=True) as store:
        sql(store.database, f"UPDATE abistore_version SET {change}")
    with pytest.raises(SchemaMismatch, match="not readable"):
        Store.open(address, write=True)


def test_a_locked_store_is_told_after_the_busy_timeout(path: Path) -> None:
    with Store.open(path, write=True) as store, store.database.transaction():
        with Store.open(path, write=True, busy_seconds=0.1) as other, pytest.raises(StoreBusy, match="locked"):
            other.ingest(CONTENT, IngestRequest("1.0"))
        with Store.open(path, write=False, busy_seconds=0.1) as reader:
            assert reader.lines() == ()


def test_a_locked_postgresql_line_is_told_after_the_busy_timeout(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
        with store.database.transaction():
            sql(store.database, "SELECT id FROM line FOR UPDATE")
            with Store.open(postgres_url, write=True, busy_seconds=0.1) as other, pytest.raises(StoreBusy):
                other.ingest(CONTENT, IngestRequest("1.1"))


def test_a_full_disk_leaves_the_store_as_it_was(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
        (pages,) = sql(store.database, "PRAGMA page_count")[0]
        sql(store.database, f"PRAGMA max_page_count = {pages + 2}")
        before = store.stats()
        with pytest.raises(StoreError, match="no space left"):
            store.ingest(large(), IngestRequest("1.0"))
        assert store.stats() == before
        assert store.check() == ()
        sql(store.database, "PRAGMA max_page_count = 1000000")
        assert not store.ingest(large(), IngestRequest("1.0")).known


def test_a_store_in_a_read_only_folder_is_read(folder: Path) -> None:
    path = folder / "store.db"
    with Store.open(path, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
    path.chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
    folder.chmod(0o555)
    with unprivileged(), Store.open(path, write=False) as store:
        assert store.resolve("libgeo@1.0").version == "1.0"
    assert [file.name for file in folder.iterdir()] == ["store.db"]


def test_a_store_in_a_read_only_folder_is_read_while_another_user_writes(folder: Path) -> None:
    path = folder / "store.db"
    with Store.open(path, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
        with unprivileged(), Store.open(path, write=False) as reader:
            assert reader.resolve("libgeo@1.0").version == "1.0"


def test_a_read_only_store_refuses_to_be_written(folder: Path) -> None:
    path = folder / "store.db"
    Store.open(path, write=True).close()
    path.chmod(0o444)
    folder.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError) as caught, Store.open(path, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
    assert caught.value.hint


def test_a_folder_that_may_not_be_written_gets_no_store(folder: Path) -> None:
    with unprivileged():
        with pytest.raises(StoreError, match="cannot be opened"):
            Store.open(folder / "store.db", write=True)
        with pytest.raises(StoreError, match="cannot be created"):
            Store.open(folder / "below" / "store.db", write=True)


def test_an_unreadable_store_is_told(folder: Path) -> None:
    path = folder / "store.db"
    Store.open(path, write=True).close()
    path.chmod(0)
    with unprivileged(), pytest.raises(StoreError, match="cannot be opened"):
        Store.open(path, write=False)


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite://", "://", "nonsense://host"])
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        Store.open(url, write=True)


def test_an_sqlite_url_names_a_file(path: Path) -> None:
    with Store.open(f"sqlite:///{path}", write=True) as store:
        assert store.database.path == path
    assert path.exists()


def test_a_snapshot_that_postgresql_cannot_hold_is_told(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        with pytest.raises(StoreError, match="cannot hold this snapshot"):
            store.ingest(snapshot(symbols={function("a\0b"): EXPORTED}), IngestRequest("1.0"))
        assert store.lines() == ()


def test_a_server_that_goes_away_is_told(postgres_url: str) -> None:
    with Store.open(postgres_url, write=True) as store:
        (process,) = sql(store.database, "SELECT pg_backend_pid()")[0]
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", (process,))
        with pytest.raises(StoreError, match="no connection"):
            store.ingest(CONTENT, IngestRequest("1.0"))


def test_a_server_that_does_not_answer_is_told_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no connection") as caught:
        Store.open(f"postgresql://me:secret@/abistore?host={tmp_path}", write=True)
    assert "secret" not in caught.value.message + caught.value.hint


def test_everyday_work_loads_no_migration_machinery(path: Path) -> None:
    program = (
        "import sys\n"
        "from abistore.store.store import Store\n"
        "from abistore.model.history import IngestRequest\n"
        "from tests.store.builders import snapshot\n"
        "with Store.open(sys.argv[1], write=True) as store:\n"
        "    store.load(store.ingest(snapshot(symbols={}), IngestRequest('1.0')).release)\n"
        "heavy = {'alembic', 'psycopg', 'sqlalchemy.orm'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", program, path], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("limit", [200_000, 400_000, 600_000])
def test_a_file_that_may_not_grow_leaves_the_store_as_it_was(path: Path, limit: int) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(CONTENT, IngestRequest("1.0"))
        before = store.stats()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
        try:
            with pytest.raises(StoreError, match=r"no space left|cannot be read or written"):
                store.ingest(large(names=3000), IngestRequest("1.0"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with Store.open(path, write=True) as store:
        assert replace(store.stats(), size=before.size) == before
        assert store.check() == ()


def test_a_command_has_each_transaction_on_the_disk_before_it_goes_on(path: Path) -> None:
    """Here nothing waits for the disk (`tests/sparing.py`), so another process is asked: 2 is FULL."""
    asked = "import sys; from abistore.store.store import Store; store = Store.open(sys.argv[1], write=True)"
    told = f"{asked}; print(store.database.command('PRAGMA synchronous')[0][0])"
    done = subprocess.run([sys.executable, "-c", told, path], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"


def test_what_was_compiled_for_a_database_is_kept_for_its_next_opening(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.lines()
    with Store.open(address, write=False) as store, Store.open(address, write=False) as beside:
        compiled = store.database.connection.engine.dialect
        store.lines()
        assert compiled is beside.database.connection.engine.dialect
