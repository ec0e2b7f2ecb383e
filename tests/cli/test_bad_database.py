"""Whatever is wrong with the database, the answer is exit code 74, a hint and no traceback."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from abistore.store.store import Store
from tests.build import build_library
from tests.cli.conftest import Call, Done


def assert_refused(done: Done, code: str, exit_code: int = 74) -> None:
    assert done.code == exit_code, done.err
    assert done.err == ""
    assert done.error["code"] == code
    assert done.error["message"]
    assert done.error["hint"]


def test_a_text_file_is_not_a_database(abistore: Call, old: Path, database: Path) -> None:
    database.write_text("these are words, and there are more than a hundred bytes of them\n" * 5)
    before = database.read_bytes()
    assert_refused(abistore("list", "--json"), "schema")
    assert_refused(abistore("ingest", old, "--version", "1", "--json"), "schema")
    assert database.read_bytes() == before


def test_the_database_of_another_program_is_left_alone(abistore: Call, old: Path, database: Path) -> None:
    with sqlite3.connect(database) as foreign:
        foreign.execute("CREATE TABLE shape (x)")
        foreign.execute("INSERT INTO shape VALUES (1)")
    foreign.close()
    before = database.read_bytes()
    assert_refused(abistore("list", "--json"), "schema")
    assert_refused(abistore("ingest", old, "--version", "1", "--json"), "schema")
    assert database.read_bytes() == before


def test_a_newer_schema_is_refused(stored: Call, old: Path, database: Path) -> None:
    with sqlite3.connect(database) as later:
        later.execute("UPDATE abistore_version SET version_num = '9999'")
    later.close()
    for words in (["list"], ["ingest", old, "--version", "9"], ["db", "upgrade"]):
        assert_refused(stored(*words, "--json"), "schema")


def test_a_damaged_database_is_told_by_check(stored: Call, database: Path) -> None:
    stored("db", "vacuum")
    with sqlite3.connect(database) as damaged:
        damaged.execute("UPDATE shape SET body = body || ' ' WHERE id = (SELECT min(id) FROM shape)")
    damaged.close()
    done = stored("db", "check", "--json")
    assert done.code == 74
    assert done.json["problems"]


def test_a_folder_is_not_a_database(abistore: Call, tmp_path: Path) -> None:
    assert_refused(abistore("list", "--db", tmp_path, "--json"), "store")


def test_a_folder_that_cannot_be_made_is_an_error(abistore: Call, old: Path) -> None:
    done = abistore("ingest", old, "--version", "1", "--db", "/proc/nowhere/abi.db", "--json")
    assert_refused(done, "store")


def test_a_missing_database_is_not_created_by_reading(abistore: Call, database: Path) -> None:
    for words in (["list"], ["history", "libcase"], ["verdict", "libcase@1"], ["export", "libcase@1"]):
        assert_refused(abistore(*words, "--json"), "store")
    assert not database.exists()


def test_a_locked_database_is_busy(stored: Call, old: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABISTORE_BUSY_SECONDS", "0.1")
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        done = stored("ingest", old, "--version", "3", "--json")
        assert_refused_file(done, "busy")
        assert stored("list").code == 0
    finally:
        holder.close()
    assert stored("ingest", old, "--version", "3").code == 0


def assert_refused_file(done: Done, code: str) -> None:
    """The one file of an ingest was refused by the database."""
    assert done.code == 74
    assert done.error["code"] == code
    (file,) = done.json["files"]
    assert file["status"] == "failed"
    assert file["code"] == code
    assert file["hint"]


def test_an_unclear_waiting_time_is_a_usage_error(abistore: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABISTORE_BUSY_SECONDS", "soon")
    assert_refused(abistore("list", "--json"), "usage", 64)


def test_a_read_only_database_can_be_read_and_not_written(
    stored: Call, process: Call, new: Path, database: Path
) -> None:
    stored("db", "vacuum")
    database.chmod(0o444)
    for log in database.parent.glob("abi.db-*"):
        log.chmod(0o444)
    assert process("list", unprivileged=True).code == 0
    assert_refused(process("db", "vacuum", "--json", unprivileged=True), "store")
    assert_refused_file(process("ingest", new, "--version", "3", "--json", unprivileged=True), "store")
    assert process("verdict", "libcase@2.0", "-q", unprivileged=True).out == "libcase 1.1 -> libcase 2.0: BREAKING\n"


def test_a_full_disk_leaves_the_store_as_it_was(stored: Call, database: Path) -> None:
    large = build_library("\n".join(f"int function_{number}(int a) {{ return a; }}" for number in range(3000)))
    before = stored("list", "--json").json
    size = max(file.stat().st_size for file in database.parent.glob("abi.db*"))
    call = [sys.executable, "-m", "abistore", "ingest", str(large), "--version", "3", "--db", str(database), "--json"]

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = subprocess.run(call, capture_output=True, text=True, preexec_fn=no_room)
    assert done.returncode == 74, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert stored("list", "--json").json == before
    assert stored("db", "check").out == "sound\n"


def test_a_gate_beside_a_copy_without_its_log_is_red(
    abistore: Call, database: Path, old: Path, added: Path, new: Path, tmp_path: Path
) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    with Store.open(database, write=True):
        assert abistore("ingest", added, "--version", "1.1", "--set-baseline").code == 0
        with Store.open(database, write=True) as other:
            other.set_baseline(other.lines()[0], "release", "1.0")
            copy = tmp_path / "artifact.db"
            subprocess.run(["cp", database, copy], check=True)
    for words in (
        ("gate", old, "--version", "2"),
        ("db", "baseline", "list"),
        (
            "db",
            "check",
        ),
    ):
        done = abistore(*words, "--db", copy)
        assert (done.code, "the last commits may be missing" in done.err) == (74, True)
