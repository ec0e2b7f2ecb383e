"""Copies of an SQLite file that lack its write-ahead log: what was committed last is never missing in silence."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from abistore.errors import StoreError
from abistore.model.history import IngestRequest
from abistore.service.administration import db_check, db_upgrade
from abistore.store.store import Store
from tests.store.builders import large
from tests.store.torture import forked

MISSING = "the last commits may be missing"


def ingest(path: Path, version: str) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(large(3, names=5), IngestRequest(version))


def versions(path: Path) -> list[str]:
    with Store.open(path, write=False) as store:
        return [one.version for line in store.lines() for one in store.releases(line.library)]


def alone(path: Path) -> Path:
    """A copy of the file alone. Another process makes it: to close the file here would take SQLite's locks."""
    copy = path.parent.parent / "artifact.db"
    subprocess.run(["cp", path, copy], check=True)
    return copy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    found = tmp_path / "store" / "abi.db"
    ingest(found, "1.0")
    return found


def test_a_file_that_nobody_uses_is_whole_by_itself(path: Path) -> None:
    assert [each.name for each in path.parent.iterdir()] == ["abi.db"]
    assert versions(alone(path)) == ["1.0"]


def test_a_file_is_whole_as_soon_as_its_writer_is_done_while_others_have_it_open(path: Path) -> None:
    with Store.open(path, write=False) as server:
        assert server.lines()
        ingest(path, "1.1")
        assert versions(alone(path)) == ["1.0", "1.1"]


def test_a_copy_beside_a_writer_is_refused_unless_its_log_is_copied_too(path: Path) -> None:
    with Store.open(path, write=True) as server:
        server.ingest(large(3, names=5, step=1), IngestRequest("1.1"))
        copy = alone(path)
        with pytest.raises(StoreError, match=MISSING):
            versions(copy)
        with pytest.raises(StoreError, match=MISSING):
            db_check(database=copy)
        with pytest.raises(StoreError, match=MISSING):
            ingest(copy, "1.2")
        subprocess.run(["cp", f"{path}-wal", f"{copy}-wal"], check=True)
        assert versions(copy) == ["1.0", "1.1"]
        assert versions(server.backup(path.parent / "backup.db")) == ["1.0", "1.1"]
    assert versions(alone(path)) == ["1.0", "1.1"]


def test_an_empty_file_in_the_place_of_the_log_is_none(path: Path) -> None:
    with Store.open(path, write=True) as server:
        server.ingest(large(3, names=5, step=1), IngestRequest("1.1"))
        copy = alone(path)
        copy.with_name(f"{copy.name}-wal").touch()
        with pytest.raises(StoreError, match=MISSING):
            versions(copy)


def killed_writer(path: Path) -> None:
    """Somebody commits, and is killed before anything else."""

    def commit() -> None:
        store = Store.open(path, write=True)
        store.ingest(large(3, names=5, step=1), IngestRequest("1.1"))
        os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(forked(commit), 0)


def test_a_copy_after_a_killed_writer_is_refused_and_the_next_use_makes_the_file_whole(path: Path) -> None:
    killed_writer(path)
    with pytest.raises(StoreError, match=MISSING):
        versions(alone(path))
    assert versions(path) == ["1.0", "1.1"]
    assert versions(alone(path)) == ["1.0", "1.1"]


def test_somebody_may_say_that_what_is_missing_does_not_matter(path: Path) -> None:
    killed_writer(path)
    copy = alone(path)
    db_upgrade(database=copy)
    assert versions(copy)[0] == "1.0"


def test_a_reader_that_holds_an_older_moment_keeps_no_writer_waiting(path: Path) -> None:
    """The log cannot be brought into the file then: it is when the next one leaves."""
    with Store.open(path, write=False) as reader, reader.reading():
        before = [one.version for one in reader.releases(reader.lines()[0].library)]
        ingest(path, "1.1")
        assert [one.version for one in reader.releases(reader.lines()[0].library)] == before
    assert versions(path) == ["1.0", "1.1"]
    assert versions(alone(path)) == ["1.0", "1.1"]


def test_the_word_of_a_file_is_ahead_of_its_commits(path: Path) -> None:
    with Store.open(path, write=True) as store, store.transaction(), pytest.raises(StoreError, match=MISSING):
        versions(alone(path))
    with sqlite3.connect(path) as driver:
        assert driver.execute("PRAGMA user_version").fetchone() == (0,)
