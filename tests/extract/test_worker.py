"""A worker reads what is hostile for others: whatever a file does to it, the caller gets an error and goes on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from abistore.errors import AbistoreError, ExtractError, LimitExceeded, UnknownFormat
from abistore.extract.bounded import read_bounded
from abistore.extract.capture import read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.extract.workers import ReadLimits, Worker, Workers, shared
from abistore.model.snapshot import Snapshot
from abistore.service.snapshots import capture
from tests.build import build_library

SOURCE = "struct point { int x, y; }; int norm(struct point *p) { return p->x; }"


@pytest.fixture
def library() -> Path:
    return build_library(SOURCE)


@pytest.fixture
def large() -> Path:
    """A library that takes many ticks of the kernel's clock to read: shorter work can end before a limit is seen."""
    return build_library(
        "\n".join(f"struct s{n} {{ int x, y; }}; int f{n}(struct s{n} *p) {{ return p->x; }}" for n in range(1500))
    )


def read_by(worker: Worker, path: Path, options: ExtractOptions | None = None) -> Snapshot:
    with InputFile(path) as file:
        (snapshot,) = worker.read(file, options or ExtractOptions())
    return snapshot


def hit(worker: Worker, number: int) -> ExtractOptions:
    """Options under which the worker gets a signal in the middle of reading."""

    def strike(_what: str, _done: float) -> None:
        assert worker.pid is not None
        os.kill(worker.pid, number)

    return ExtractOptions(progress=strike)


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(ReadLimits(silence=20))
    yield made
    made.kill()


def test_a_worker_gives_what_reading_here_gives(worker: Worker, library: Path) -> None:
    told: list[str] = []
    found = read_by(worker, library, ExtractOptions(version="1.2", progress=lambda what, _: told.append(what)))
    assert found == read_snapshot(library, ExtractOptions(version="1.2"))
    assert told


def test_fifty_files_are_read_by_one_process(worker: Worker, library: Path, tmp_path: Path) -> None:
    processes = set()
    for number in range(50):
        path = tmp_path / f"libcase.so.{number}"
        path.write_bytes(library.read_bytes())
        assert read_by(worker, path).provenance.file == path.name
        processes.add(worker.pid)
    assert len(processes) == 1


def test_errors_have_the_codes_and_hints_that_they_have_here(worker: Worker, library: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "libcut.so").write_bytes(library.read_bytes()[:600])
    (tmp_path / "snapshot.json").write_text('{"a": 1}')
    for name in ("notes.txt", "libcut.so", "snapshot.json"):
        with pytest.raises(AbistoreError) as here:
            read_snapshot(tmp_path / name, ExtractOptions())
        with pytest.raises(AbistoreError) as there:
            read_by(worker, tmp_path / name)
        assert type(there.value) is type(here.value)
        assert (there.value.message, there.value.hint) == (here.value.message, here.value.hint)
    assert read_by(worker, library).library == "libcase"


def test_a_file_that_takes_too_much_time_ends_and_the_worker_stays(library: Path, large: Path) -> None:
    worker = Worker(ReadLimits(seconds=0.001))
    try:
        with pytest.raises(LimitExceeded, match="seconds of processor time"):
            read_by(worker, large)
        before = worker.pid
        worker.bounds = ReadLimits()
        assert read_by(worker, library).library == "libcase"
        assert worker.pid == before
    finally:
        worker.kill()


def test_a_file_that_takes_too_much_memory_ends_and_the_worker_stays(library: Path, tmp_path: Path) -> None:
    worker = Worker(ReadLimits(memory=16 << 20))
    big = tmp_path / "big.json"
    big.write_bytes(b"{" + bytes(64 << 20))
    try:
        with pytest.raises(LimitExceeded, match="MiB of memory"):
            read_by(worker, big)
        before = worker.pid
        assert read_by(worker, library).library == "libcase"
        assert worker.pid == before
    finally:
        worker.kill()


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [(signal.SIGSEGV, ExtractError, "SIGSEGV"), (signal.SIGKILL, LimitExceeded, "killed by the system")],
)
def test_a_process_that_dies_is_an_error_and_is_replaced(
    worker: Worker, library: Path, number: int, error: type[AbistoreError], words: str
) -> None:
    first = read_by(worker, library)
    with pytest.raises(error, match=words) as raised:
        while True:  # it may have read all before the signal comes
            died = worker.pid
            read_by(worker, library, hit(worker, number))
    assert raised.value.hint
    assert raised.value.code in {"extract", "limit"}
    assert read_by(worker, library) == first
    assert worker.pid != died


def test_a_process_that_hangs_is_killed_and_replaced(worker: Worker, library: Path) -> None:
    worker.bounds = ReadLimits(silence=0.2)
    with pytest.raises(LimitExceeded, match="did not respond"):
        while True:  # it may have read all before the signal comes
            read_by(worker, library, hit(worker, signal.SIGSTOP))
    worker.bounds = ReadLimits()
    assert read_by(worker, library).library == "libcase"


def test_a_process_that_died_between_two_files_is_replaced(worker: Worker, library: Path) -> None:
    read_by(worker, library)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    assert read_by(worker, library).library == "libcase"


def test_a_process_that_grew_reads_no_further_file(library: Path) -> None:
    worker = Worker(ReadLimits(keep=1))
    read_by(worker, library)
    assert worker.pid is None
    assert read_by(worker, library).library == "libcase"


def test_reading_can_be_cancelled_from_outside(worker: Worker, library: Path) -> None:
    stopped = threading.Event()

    def stop(_what: str, _done: float) -> None:
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGSTOP)  # so that it cannot end by itself
        stopped.set()

    with pytest.raises(ExtractError, match="cancelled"), InputFile(library) as file:
        worker.read(file, ExtractOptions(progress=stop), stopped.is_set)
    assert worker.pid is None
    assert read_by(worker, library).library == "libcase"


def test_a_worker_reads_the_file_that_was_opened(worker: Worker, library: Path, tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(library.read_bytes())
    with InputFile(path) as file:
        path.unlink()
        path.write_text("something else")
        (snapshot,) = worker.read(file, ExtractOptions())
        assert snapshot.provenance.sha256 == file.sha256()


def test_a_path_relative_to_the_folder_of_the_caller_is_read(
    worker: Worker, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_by(worker, library)
    monkeypatch.chdir(tmp_path)
    Path("libcase.so").write_text("INPUT(libother.so)")
    Path("libother.so").write_bytes(library.read_bytes())
    assert read_by(worker, Path("libcase.so")).provenance.file == "libother.so"


def in_thread(call: Callable[[], object]) -> object:
    results: list[object] = []

    def run() -> None:
        try:
            results.append(call())
        except AbistoreError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def test_a_thread_has_its_files_read_by_a_worker(library: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert in_thread(lambda: capture(library)) == capture(library)
    assert isinstance(in_thread(lambda: capture(tmp_path / "notes.txt")), UnknownFormat)


def test_limits_hold_in_a_thread(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(1, ReadLimits(seconds=0.001))
    monkeypatch.setattr("abistore.extract.workers._shared", workers)
    try:
        with InputFile(large) as file:
            found = in_thread(lambda: read_bounded(file, ExtractOptions()))
    finally:
        workers.close()
    assert isinstance(found, LimitExceeded)


def test_a_thread_reads_a_file_though_its_process_stands_in_a_removed_folder(library: Path, tmp_path: Path) -> None:
    folder, outside = tmp_path / "gone", Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        folder.rmdir()
        with InputFile(library) as file:
            found = in_thread(lambda: read_bounded(file, ExtractOptions()))
    finally:
        os.chdir(outside)
    assert found == (read_snapshot(library, ExtractOptions()),)


def test_threads_share_no_more_workers_than_there_may_be(library: Path) -> None:
    workers = Workers(2)
    found: list[str] = []

    def some() -> None:
        for _ in range(3):
            with InputFile(library) as file:
                found.append(workers.read(file, ExtractOptions())[0].library)

    threads = [threading.Thread(target=some) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["libcase"] * 15
    assert len(workers._all) <= 2
    workers.close()


def test_a_forked_process_has_workers_of_its_own() -> None:
    here = shared()
    process = os.fork()
    if process == 0:
        os._exit(0 if shared() is not here else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
