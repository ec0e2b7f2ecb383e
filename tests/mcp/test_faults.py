"""Faults of everything around a server that a client starts: it goes on, says what is wrong, and leaves nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

from abistore.errors import AbistoreError
from abistore.interface import IngestPlan, ingest, open_store
from abistore.mcp.settings import CODES, Code
from benchmarks.processes import family
from examples.agents.speaking import Speaking, text_of
from tests.build import build_library
from tests.mcp.conftest import OLD
from tests.mcp.over_http import LAUNCH

pytestmark = pytest.mark.full

OUTDATED = Path(__file__).parents[1] / "store" / "schemas" / "0001.db"
SHORT = 8_000
"""Bytes that no error needs more of."""


class Faulty:
    """A server over standard input and output, about a store of its own."""

    def __init__(self, database: Path, *options: str, **environment: str) -> None:
        self.database = database
        self.log = database.with_name("log")
        with self.log.open("w") as log:
            command = [sys.executable, *LAUNCH, "--db", database, *options]
            self.speaking = Speaking(command, stderr=log, env={**os.environ, **environment})
        self.speaking.__enter__()
        self.seen: set[int] = set()

    @property
    def workers(self) -> list[int]:
        """The processes that work for it now."""
        found = list(family(self.speaking.process.pid))[1:]
        self.seen |= set(found)
        return found

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error that a call is answered with: short, and without a folder of this machine."""
        told = self.speaking.call(tool, **arguments)
        assert told.result["isError"]
        assert told.bytes < SHORT
        assert str(self.database.parent) not in json.dumps(told.message)
        return told.document

    def goes_on(self) -> None:
        """The next call is answered, and rightly."""
        assert self.listed() == "libgeo"

    def listed(self) -> str:
        library: str = self.speaking.call("abi_list").document["items"][0]["library"]
        return library

    def begin(self, tool: str, **arguments: Any) -> int:
        """Ask without waiting for the answer."""
        number = 10_000 + len(self.seen)
        asked = {"name": tool, "arguments": arguments}
        self.speaking.say({"id": number, "method": "tools/call", "params": asked})
        return number


def is_running(process: int) -> bool:
    """Whether a process is there, and no zombie whose parent can be told that it ended: each of its threads has."""
    found = Path(f"/proc/{process}")
    try:
        state = (found / "stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" or len(list((found / "task").iterdir())) > 1
    except OSError:
        return False


def eventually(holds: Callable[[], bool], most: float = 30) -> bool:
    deadline = time.monotonic() + most
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def database(stored: Path, tmp_path: Path) -> Path:
    return shutil.copyfile(stored, tmp_path / "abi.db")


@contextmanager
def served(database: Path, *options: str, code: int = 0, **environment: str) -> Iterator[Faulty]:
    """A server that ends with ``code``; afterwards no process of it is left, and the store is as it was."""
    before = digest(database)
    server = Faulty(database, *options, **environment)
    try:
        yield server
    finally:
        server.seen |= set(server.workers)
        ended = server.speaking.end()
    assert ended == code
    assert eventually(lambda: not any(map(is_running, server.seen)))
    assert digest(database) == before


@pytest.fixture(scope="module")
def lasting(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    """A server that all faults of arguments and files meet, one after the other."""
    database = shutil.copyfile(stored, tmp_path_factory.mktemp("lasting") / "abi.db")
    with served(database) as server:
        yield server


def sparse(folder: Path) -> Path:
    (folder / "sparse.so").touch()
    os.truncate(folder / "sparse.so", 600 << 20)
    return folder / "sparse.so"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.so")
    return folder / "pipe.so"


def link(folder: Path) -> Path:
    (folder / "link.so").symlink_to("/etc/passwd")
    return folder / "link.so"


def loop(folder: Path) -> Path:
    (folder / "loop.so").symlink_to(folder / "loop.so")
    return folder / "loop.so"


def bound(folder: Path) -> Path:
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(folder / "socket.so"))
    return folder / "socket.so"


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a sparse file of 600 MB": (sparse, "FILE_TOO_LARGE"),
    "a pipe that nobody writes to": (pipe, "INVALID_ARGUMENT"),
    "a link to a file of the system": (link, "UNSUPPORTED_FORMAT"),
    "a link to itself": (loop, "PATH_DENIED"),
    "a socket": (bound, "INVALID_ARGUMENT"),
    "a device that never ends": (lambda folder: Path("/dev/zero"), "INVALID_ARGUMENT"),
    "a folder": (lambda folder: folder, "INVALID_ARGUMENT"),
    "a file that is not there": (lambda folder: folder / "absent.so", "NOT_FOUND"),
    "a name with a NUL": (lambda folder: folder / "a\0b", "PATH_DENIED"),
    "a name that is too long": (lambda folder: folder / ("x" * 5_000), "PATH_DENIED"),
}


@pytest.mark.parametrize("fault", FILES)
def test_a_file_that_is_no_library_is_refused(fault: str, lasting: Faulty, tmp_path: Path) -> None:
    make, code = FILES[fault]
    file = str(make(tmp_path))
    for tool, arguments in (
        ("abi_dump", {"library_path": file}),
        ("abi_compare", {"old_input": "libgeo@1.0", "new_input": file}),
    ):
        refused = lasting.refused(tool, **arguments)
        assert refused["code"] == code, refused
        assert "root:" not in json.dumps(refused)
        assert str(tmp_path) not in json.dumps(refused)
    lasting.goes_on()


@pytest.mark.parametrize("argument", ["library", "prefix", "cursor", "limt"])
def test_an_argument_of_five_megabytes_is_answered_shortly(argument: str, lasting: Faulty) -> None:
    told = lasting.speaking.call("abi_list", **{argument: "x" * (5 << 20)})
    assert told.bytes < SHORT
    lasting.goes_on()


def test_a_name_of_five_megabytes_is_no_tool(lasting: Faulty) -> None:
    told = lasting.speaking.call("x" * (5 << 20))
    assert len(json.dumps(told.message)) < SHORT
    lasting.goes_on()


def test_calls_at_once_are_answered_each_with_its_own(lasting: Faulty) -> None:
    versions = ["1.0", "1.1", "2.0"]
    numbers = range(20_000, 20_050)
    for number in numbers:
        arguments = {"library": "libgeo", "prefix": versions[number % 3]}
        asked = {"name": "abi_list", "arguments": arguments}
        lasting.speaking.say({"id": number, "method": "tools/call", "params": asked})
    told = {}
    while len(told) < len(numbers):
        message = json.loads(lasting.speaking.hears.readline())
        told[message["id"]] = json.loads(text_of(message["result"]))["items"][0]["version"]
    assert told == {number: versions[number % 3] for number in numbers}
    lasting.goes_on()


def test_processes_that_are_killed_are_replaced(lasting: Faulty) -> None:
    lasting.goes_on()
    killed = lasting.workers
    for process in killed:
        os.kill(process, signal.SIGKILL)
    assert eventually(lambda: not any(map(is_running, killed)))
    lasting.goes_on()
    assert lasting.workers


HANG = """
import signal, sys, time
if "abistore.mcp.jobs" in " ".join(sys.orig_argv):
    from abistore.extract import capture
    def hang(*given):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            time.sleep(1)
    capture.read_all = hang
"""
"""What Python runs first: in a process that works for the server, extraction hangs, and heeds no signal."""


@pytest.fixture
def hanging(tmp_path: Path) -> dict[str, str]:
    """The environment in which extraction hangs."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(HANG)
    return {"PYTHONPATH": str(tmp_path / "first")}


def test_an_extraction_that_hangs_is_ended_when_it_is_cancelled_and_after_its_time(
    database: Path, hanging: dict[str, str], libraries: dict[str, Path]
) -> None:
    library = str(libraries["1.0"])
    with served(database, "--timeout", "8", **hanging) as server:
        server.goes_on()
        before = server.workers
        number = server.begin("abi_dump", library_path=library)
        time.sleep(0.3)
        server.speaking.say({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert eventually(lambda: not any(map(is_running, before)))
        refused = server.refused("abi_dump", library_path=library)
        assert (refused["code"], refused["error"]) == ("TIMEOUT", "abi_dump timed out after 8s")
        assert not any(map(is_running, server.seen - set(server.workers)))
        server.goes_on()


@pytest.mark.parametrize(("how", "code"), [("closed", 0), ("terminated", 0), ("killed", -signal.SIGKILL)])
def test_the_end_in_the_middle_of_a_call_leaves_no_process(
    how: str, code: int, database: Path, hanging: dict[str, str], libraries: dict[str, Path]
) -> None:
    with served(database, code=code, **hanging) as server:
        server.goes_on()
        server.begin("abi_dump", library_path=str(libraries["1.0"]))
        time.sleep(0.3)
        workers = server.workers
        assert workers
        if how == "closed":
            assert server.speaking.end() == 0
        else:
            server.speaking.process.send_signal(signal.SIGTERM if how == "terminated" else signal.SIGKILL)
            assert server.speaking.process.wait(30) == code
        assert eventually(lambda: not any(map(is_running, workers)))


def test_a_server_that_is_killed_leaves_no_process(database: Path) -> None:
    with served(database, code=-signal.SIGKILL) as server:
        server.goes_on()
        workers = server.workers
        server.speaking.process.kill()
        server.speaking.process.wait()
        assert eventually(lambda: not any(map(is_running, workers)))


def test_a_client_that_no_longer_reads_ends_the_server(database: Path) -> None:
    with served(database) as server:
        server.goes_on()
        workers = server.workers
        server.speaking.hears.close()
        server.begin("abi_list")
        server.speaking.tells.close()
        server.speaking.process.wait(30)
        assert eventually(lambda: not any(map(is_running, workers)))


def test_a_store_is_read_while_others_write_and_one_that_is_locked_is_told(database: Path) -> None:
    with served(database, ABISTORE_BUSY_SECONDS="0.3") as server:
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            server.goes_on()
            other.execute("ROLLBACK")
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            refused = server.refused("abi_summary", library="libgeo")
            assert refused["code"] == "DB_BUSY", refused
            assert refused["hint"]
            other.execute("ROLLBACK")
        server.goes_on()


def test_a_store_that_is_replaced_is_asked_anew(database: Path, tmp_path: Path) -> None:
    kept, other = shutil.copyfile(database, tmp_path / "kept.db"), tmp_path / "other.db"
    library = build_library(OLD, soname="libother.so.1", name="libother.so")
    with open_store(other, create=True) as store:
        ingest(library, IngestPlan(version="1.0"), database=store)
    with served(database) as server:
        server.goes_on()
        other.replace(database)
        assert server.listed() == "libother"
        shutil.copyfile(OUTDATED, tmp_path / "old.db").replace(database)
        refused = server.refused("abi_list")
        hint = "run `abistore db upgrade` (command line only)"
        assert (refused["code"], refused["hint"]) == ("SCHEMA_OUTDATED", hint)
        database.unlink()
        refused = server.refused("abi_list")
        assert refused["error"] == "abi.db: no such database"
        assert not database.exists()
        database.write_bytes(b"no database at all" * 1_000)
        assert server.refused("abi_list")["code"] in {"DB_ERROR", "SCHEMA_OUTDATED"}
        kept.replace(database)
        server.goes_on()


def test_every_error_has_a_code_that_clients_know() -> None:
    def codes(error: type[AbistoreError]) -> Iterator[str]:
        yield error.code
        for kind in error.__subclasses__():
            yield from codes(kind)

    assert {*codes(AbistoreError)} <= {*CODES}
    assert {*CODES.values()} <= {*get_args(Code)}
