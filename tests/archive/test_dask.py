"""Archives that the workers of a Dask scheduler read: a real scheduler, real workers, and kills."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.archive.cluster import Cluster, lines_of, logged, stored
from tests.archive.conftest import COUNT
from tests.archive.test_kills import PATIENCE, assert_finishes, running, until
from tests.archive.test_kills import long_archive as long_archive
from tests.cli.conftest import Call

pytestmark = [pytest.mark.full, pytest.mark.skipif(not find_spec("distributed"), reason="distributed is not installed")]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path / "dask", stack)


def test_the_workers_of_a_scheduler_read_what_this_machine_would(
    abistore: Call, archive: Path, tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    Path("libn3.so.1").write_bytes(b"\x7fELF and no more")
    done = abistore("archive", "ingest", "list", "--scheduler", cluster.address, "--db", tmp_path / "there", "--json")
    assert (done.code, done.json["run"]["counts"]) == (65, {"failed": 1, "stored": COUNT - 1}), done.out
    assert abistore("archive", "ingest", "list", "--db", tmp_path / "here").code == 65
    assert stored(tmp_path / "there") == stored(tmp_path / "here")


def test_a_worker_that_is_killed_loses_nothing(
    long_archive: Path, database: Path, tmp_path: Path, cluster: Cluster
) -> None:
    log = tmp_path / "run.jsonl"
    with running(long_archive, "--scheduler", cluster.address, "--log", log, "--db", database) as process:
        until(lambda: lines_of(log) > 0 or process.poll() is not None)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == 0
    assert [each["status"] for each in logged(log)] == ["stored"] * len(logged(log))
    assert_finishes(long_archive, database, log)


def test_a_scheduler_that_is_killed_ends_the_run_and_the_next_one_finishes(
    long_archive: Path, database: Path, tmp_path: Path, cluster: Cluster
) -> None:
    log = tmp_path / "run.jsonl"
    with running(long_archive, "--scheduler", cluster.address, "--log", log, "--db", database) as process:
        until(lambda: lines_of(log) > 0 or process.poll() is not None)
        os.kill(cluster.scheduler.pid, signal.SIGKILL)
        assert process.wait(PATIENCE) in {0, 75}
    assert_finishes(long_archive, database, log)


def test_a_scheduler_that_does_not_answer_is_an_error(abistore: Call, archive: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    done = abistore("archive", "ingest", archive, "--scheduler", address, "--json")
    assert (done.code, done.error["code"]) == (75, "scheduler")


def test_without_the_extra_the_hint_says_how_to_install_it(
    abistore: Call, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = abistore("archive", "ingest", archive, "--scheduler", "tcp://127.0.0.1:1")
    assert done.code == 64
    assert "dask" in done.err
