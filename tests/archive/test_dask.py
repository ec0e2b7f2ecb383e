"""Archives that the workers of a Dask scheduler read: a real scheduler, real workers, and kills."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.archive.conftest import COUNT
from tests.archive.test_ingest import logged, stored
from tests.archive.test_kills import PATIENCE, assert_finishes, lines_of, running, until
from tests.archive.test_kills import long_archive as long_archive
from tests.cli.conftest import Call

pytestmark = [pytest.mark.full, pytest.mark.skipif(not find_spec("distributed"), reason="distributed is not installed")]

SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._folder, self._stack = folder, stack
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker(), self.start_worker()]

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        return self._start(SCHEDULER, "--host", "127.0.0.1", "--port", str(self.port))

    def start_worker(self) -> subprocess.Popen[bytes]:
        words = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))
        return self._start(WORKER, self.address, *words)

    def _start(self, code: str, *words: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-c", code, *words, "--no-dashboard"]
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


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
