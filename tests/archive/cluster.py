"""A Dask scheduler with two workers, and a run of an archive, each a process that can be killed."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
WORKER = "from distributed.cli.dask_worker import main; main()"


class Cluster:
    """A scheduler and two workers, which end with the stack."""

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

    def mend(self) -> None:
        """Start again what was killed. Workers end when their scheduler does."""
        if self.scheduler.poll() is not None:
            self.scheduler = self.start_scheduler()
            for each in self.workers:
                each.kill()
                each.wait()
        self.workers = [self.start_worker() if each.poll() is not None else each for each in self.workers]

    @property
    def pids(self) -> list[int]:
        return [self.scheduler.pid, *(each.pid for each in self.workers)]

    def _start(self, code: str, *words: str) -> subprocess.Popen[bytes]:
        call = [sys.executable, "-c", code, *words, "--no-dashboard"]
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


def archive_command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "abistore", "archive", "ingest", *map(str, words)]


def lines_of(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def logged(path: Path, *, torn: bool = False) -> list[dict[str, Any]]:
    """The lines of a log; where it may be ``torn``, all but those that a kill cut off."""
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines if not torn or line.endswith("}")]


def stored(database: Path) -> list[tuple[str, str, str]]:
    """The name, version and digest of each release, in the order of their lines."""
    query = (
        "select l.name, s.version, hex(s.digest) from snapshot s join line on line.id = s.line_id "
        "join library l on l.id = line.library_id where s.candidate = 0 order by l.name, s.sequence"
    )
    with sqlite3.connect(database) as connection:
        return connection.execute(query).fetchall()


def disagreements(database: Path, log: Path, expected: set[str]) -> list[str]:
    """How store, log and archive differ after a run that finished: what is lost, doubled, or logged differently."""
    found = stored(database)
    names = [name for name, _, _ in found]
    said = {
        release: digest.upper()
        for each in logged(log, torn=True)
        if each["status"] != "failed"
        for release, digest in zip(each["releases"], each["digests"], strict=True)
    }
    problems = [f"lost: {name}" for name in sorted(expected - set(names))]
    problems += [f"doubled: {name}" for name in sorted({name for name in names if names.count(name) > 1})]
    problems += [f"not expected: {name}" for name in sorted(set(names) - expected)]
    if said != {f"{name}@{version}": digest for name, version, digest in found}:
        problems.append("the log differs from the store")
    check = [sys.executable, "-m", "abistore", "db", "check", "--db", str(database)]
    is_damaged = subprocess.run(check, capture_output=True).returncode
    return [*problems, *(["the database is damaged"] if is_damaged else [])]
