"""Whatever is killed during a run, every file is stored once, and the next run finishes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests.archive.cluster import archive_command, disagreements, lines_of, logged, stored
from tests.archive.conftest import COUNT
from tests.build import build_library
from tests.store.postgres import programs, server

pytestmark = pytest.mark.full

PATIENCE = 60.0
MANY = 60


@pytest.fixture
def long_archive(archive: Path) -> Path:
    """A manifest of so many files that a run is seen in its middle."""
    lines = archive.read_text().splitlines()
    for number in range(COUNT, MANY):
        source = f"int own_{number}(int a) {{ return a + {number}; }}\n"
        built = build_library(source, soname=f"libn{number}.so.1", flags=("-O1",))
        (archive.parent / f"libn{number}.so.1").write_bytes(built.read_bytes())
        lines.append(f"libn{number}.so.1 1.{number}")
    archive.write_text("\n".join(lines))
    return archive


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.002)


def workers_below(pid: int) -> list[int]:
    """The processes that read, which threads of a process start."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(status.parent.name))
    return found


def assert_finishes(archive: Path, database: Path, log: Path) -> None:
    """The next run keeps all that is stored, stores the rest, and log and store agree."""
    before = {name: digest for name, _, digest in stored(database)} if database.exists() else {}
    done = subprocess.run(archive_command(archive, "--resume", log, "--db", database), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert disagreements(database, log, {f"libn{number}" for number in range(MANY)}) == []
    assert before.items() <= {name: digest for name, _, digest in stored(database)}.items()


@contextmanager
def running(*words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(archive_command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_after_the_kill_of_the_run_the_next_one_finishes(
    long_archive: Path, database: Path, tmp_path: Path, jobs: str
) -> None:
    log = tmp_path / "run.jsonl"
    with running(long_archive, "--jobs", jobs, "--log", log, "--db", database) as process:
        until(lambda: lines_of(log) > 0 or process.poll() is not None)
    assert_finishes(long_archive, database, log)


def test_a_worker_that_is_killed_fails_its_file_alone(long_archive: Path, database: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    with running(long_archive, "--jobs", "2", "--log", log, "--db", database) as process:
        until(lambda: bool(workers_below(process.pid)) or process.poll() is not None)
        for each in workers_below(process.pid):
            os.kill(each, signal.SIGKILL)
        code = process.wait(PATIENCE)
    failed = [each for each in logged(log) if each["status"] == "failed"]
    assert (code, {each["code"] for each in failed}) in [(0, set()), (65, {"limit"})]
    assert len(failed) <= 2
    assert len(stored(database)) == MANY - len(failed)
    assert_finishes(long_archive, database, log)


def restart(url: str) -> None:
    """End a server as a crash does, and start it again."""
    folder, root = programs(), Path(str(make_url(url).query["host"]))
    assert folder is not None
    command = [
        str(folder / "pg_ctl"),
        "-D",
        str(root / "data"),
        "-m",
        "immediate",
        "-w",
        "-l",
        str(root / "log"),
        "restart",
    ]
    subprocess.run(command, user="postgres" if os.geteuid() == 0 else None, cwd=root, check=True, capture_output=True)


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_database_that_restarts_meanwhile_has_every_file_once(long_archive: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    with server(settings=()) as url:
        with running(long_archive, "--jobs", "2", "--log", log, "--db", url) as process:
            until(lambda: lines_of(log) > 0 or process.poll() is not None)
            restart(url)
            assert process.wait(PATIENCE) == 0
        with psycopg.connect(url) as connection:
            found = connection.execute("select digest from snapshot order by id").fetchall()
    said = [each["digests"][0] for each in logged(log)]
    assert sorted(digest.hex() for (digest,) in found) == sorted(said)
    assert len(set(said)) == len(said) == MANY
