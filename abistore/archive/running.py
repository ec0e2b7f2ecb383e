"""Running an archive: processes or machines read files into snapshots, and one writer stores them in batches."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from abistore.archive.items import Item, ItemKey
from abistore.archive.log import ArchiveRun, ArchiveTally, LoggedItem, RunLog, logged, read_log
from abistore.archive.repositories import items_of
from abistore.errors import (
    AbistoreError,
    LimitExceeded,
    OutputError,
    SchedulerLost,
    StoreBusy,
    StoreError,
    UsageError,
)
from abistore.extract.bounded import read_bounded
from abistore.extract.files import InputFile, open_input
from abistore.extract.reader import ExtractOptions
from abistore.extract.workers import Workers, shared
from abistore.files import write_whole
from abistore.installing import how_to_install
from abistore.model.labels import Given
from abistore.model.packing import unpacked
from abistore.model.snapshot import Snapshot, digest, snapshot_digest
from abistore.model.structure import without_cycle_collection
from abistore.service.database import Database, using
from abistore.service.ingest import check_plan, has_several, ingest_known, ingest_read, ingest_safely, labelled, placed
from abistore.service.ingest_gates import AS_IT_SAYS, Ingested, IngestPlan
from abistore.service.snapshots import on_platform, written

Result = TypeVar("Result")

ENDING: Final = frozenset({StoreError, StoreBusy})
"""Errors of a store, and none of their kinds, that the next file would meet as well."""

MOST_ITEMS: Final = 32
"""How many items one transaction stores."""

LINGER: Final = 2.0
"""Seconds after which what is read is stored, though it fills no batch: whoever watches sees that the run goes on."""

MOST_BYTES: Final = 256 << 20
"""Bytes of files that are read and not yet stored, unless one file alone has more."""

PATIENCE: Final = 30.0
"""Seconds in which a database that ended is asked for again."""


class ArchivePlan(Given, frozen=True):
    """How the items of an archive are run.

    ``jobs`` processes read on this machine; with one, this process reads. ``scheduler`` is the address of a Dask
    scheduler, whose workers read instead. Each item is a line in ``log``; what ``resume`` has, the log of an earlier
    run, is not read again, and without a ``log`` its lines are added there. ``shard`` as ``3/20`` takes the third of
    twenty parts, and ``out`` is a folder to which snapshots are written instead of being stored.
    """

    jobs: int = 1
    scheduler: str | None = None
    log: Path | None = None
    resume: Path | None = None
    shard: str | None = None
    out: Path | None = None

    def check(self, plan: IngestPlan) -> None:
        """Raise :class:`UsageError` for words that contradict each other."""
        if self.jobs < 1:
            raise UsageError(f"--jobs {self.jobs}: at least one process reads", "pass a number from 1 on")
        if self.out is not None and not plan.gate.is_open:
            raise UsageError(
                "snapshots that are written to a folder pass no gate", "pass the gate to `abistore import`"
            )
        if plan.dry_run:
            raise UsageError("an archive is not run dry", "try one of its files with `abistore ingest --dry-run`")

    def part_of(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items of the shard. Raises :class:`UsageError` for a shard that is none."""
        if self.shard is None:
            return items
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", self.shard)
        number, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= count:
            raise UsageError(f"--shard {self.shard}: not a part", "write PART/PARTS, such as 3/20")
        return items[number - 1 :: count]


AS_ONE: Final = ArchivePlan()
"""All items are read in this process, one after the other."""


class ArchiveProgress(NamedTuple):
    """How far a run is: items that are ``done`` of ``total``, that ``failed``, and ``red`` gates.

    ``rate`` is in items a second, ``left`` in seconds; ``None`` before there is any rate.
    """

    done: int
    total: int
    failed: int
    red: int
    rate: float
    left: float | None


def archive_ingest(
    sources: Sequence[str | Path],
    plan: IngestPlan = AS_IT_SAYS,
    running: ArchivePlan = AS_ONE,
    *,
    database: Database = None,
    progress: Callable[[ArchiveProgress], None] | None = None,
) -> ArchiveRun:
    """Store every file of ``sources``: manifests, folders, package repositories, files, and ``-`` for standard input.

    A file that fails is counted and logged, and the others are stored. Each is stored once, whoever is killed
    meanwhile: the next run finds it known, and with ``running.resume`` does not open it.

    Raises :class:`UsageError` for a manifest or words that are wrong, :class:`StoreError` where the database ends.
    """
    check_plan(plan)
    running.check(plan)
    listed = items_of(sources)
    items = running.part_of(listed.items)
    with ExitStack() as stack:
        out = running.out
        sink: Sink = stack.enter_context(_StoreSink(database)) if out is None else _FolderSink(out)
        place = stack.enter_context(_place(running))
        before = read_log(running.resume) if running.resume else {}
        log = stack.enter_context(RunLog(running.log or running.resume))
        run = _Run(plan, place, sink, log, progress)
        return run.result(items, before, listed.notes)


# --- reading ------------------------------------------------------------------------------------------------------


class ReadTask(NamedTuple):
    """What another process or machine is asked: a file, and how to read it. To do it twice does no harm."""

    path: Path
    options: ExtractOptions
    folder: Path
    """What paths are relative to."""


Answer: TypeAlias = tuple[Snapshot, ...] | tuple[bytes, ...]
"""The snapshots of the libraries in a file, or each packed."""


class Here(Executor):
    """An executor that does its work when it is asked to."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The work, which is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except AbistoreError as error:
            future.set_exception(error)
        return future


def read_here(task: ReadTask) -> tuple[Snapshot, ...]:
    """The snapshots of a file, read in this process."""
    with open_input(task.path) as file:
        return read_bounded(file, task.options)


def read_apart(task: ReadTask, workers: Workers | None = None) -> tuple[bytes, ...]:
    """The packed snapshots of a file, read in a process that may be killed: one of those that this process shares."""
    with open_input(task.folder / task.path) as file:
        return (workers or shared()).read_packed(file, task.options, task.folder)


def read_several(tasks: Sequence[ReadTask]) -> list[Answer | AbistoreError]:
    """:func:`read_apart` for each of some files: what was read, or why it could not be."""
    return [_answer(task) for task in tasks]


def _answer(task: ReadTask) -> Answer | AbistoreError:
    try:
        return read_apart(task)
    except AbistoreError as error:
        return error


class Grouping(Executor):
    """Hands the files of several calls to another executor as one task, where a task costs as much as a small file."""

    def __init__(self, inner: Executor, size: int) -> None:
        self._inner = inner
        self._size = size
        self._tasks: list[ReadTask] = []
        self._futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The reading of a file, which begins with that of the others in its group, or with :meth:`flush`."""
        future: Future[Any] = Future()
        self._tasks.append(args[0])
        self._futures.append(future)
        if len(self._tasks) == self._size:
            self.flush()
        return future

    def flush(self) -> None:
        """Begin with what is there."""
        if self._tasks:
            tasks, futures = self._tasks, self._futures
            self._tasks, self._futures = [], []
            self._inner.submit(read_several, tasks).add_done_callback(lambda done: _share(done, futures))


def _share(done: Future[list[Answer | AbistoreError]], futures: Sequence[Future[Any]]) -> None:
    """Give each file of a group its own answer, or the error that all of them met."""
    error = CancelledError() if done.cancelled() else done.exception()
    answers = [error] * len(futures) if error is not None else done.result()
    for future, answer in zip(futures, answers, strict=True):
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)


class ReadingPlace(NamedTuple):
    """Where files are read: an executor, what it does with a file, and how many files it is given at once.

    ``check`` raises :class:`SchedulerLost` where nobody works any more, ``flush`` begins with all files.
    """

    executor: Executor
    read: Callable[[ReadTask], Answer]
    at_once: int
    check: Callable[[], None] = lambda: None
    flush: Callable[[], None] = lambda: None

    def begin(self, path: Path, options: ExtractOptions) -> Future[Answer]:
        """Begin to read a file. Raises :class:`SchedulerLost`."""
        self.check()
        return self.executor.submit(self.read, ReadTask(path, options, Path.cwd()))

    def wait(self, future: Future[Answer]) -> None:
        """Wait until a file is read, or could not be. Raises :class:`SchedulerLost`."""
        if not future.done():
            self.flush()
        while not wait([future], LOOK).done:
            self.check()


@contextmanager
def _place(running: ArchivePlan) -> Iterator[ReadingPlace]:
    if running.scheduler is not None:
        with _dask(running.scheduler) as place:
            yield place
        return
    if running.jobs == 1:
        yield ReadingPlace(Here(), read_here, MOST_ITEMS)
        return
    workers = Workers(running.jobs)
    executor = ThreadPoolExecutor(running.jobs)
    try:
        yield ReadingPlace(executor, lambda task: read_apart(task, workers), 2 * MOST_ITEMS + 4 * running.jobs)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        workers.close()  # an interrupt waits for no file
        executor.shutdown()


GROUP: Final = 16
"""So many files at most share the cost of a task of Dask, which is near that of reading a small file."""

CONNECT, LOOK = 10.0, 1.0
"""Seconds in which a scheduler answers, and after which a run looks whether it is still there."""


@contextmanager
def _dask(address: str) -> Iterator[ReadingPlace]:
    """The workers of a Dask scheduler. Raises :class:`SchedulerLost`."""
    try:
        distributed: Any = import_module("distributed")  # the extra `dask`
    except ImportError as error:
        message = "--scheduler needs the package distributed"
        raise UsageError(message, f"install it: {how_to_install('dask')}") from error
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SchedulerLost(f"{address}: no Dask scheduler answers: {error}", "start one: dask scheduler") from error
    try:
        threads = max(1, sum(client.nthreads().values()))
        at_once = 2 * MOST_ITEMS + 4 * threads
        executor = Grouping(client.get_executor(pure=False), min(GROUP, at_once // (2 * threads)))
        yield ReadingPlace(executor, read_apart, at_once, _Watch(client, address).check, executor.flush)
    finally:
        with suppress(OSError, TimeoutError):  # it ended before
            client.close(CONNECT)


class _Watch:
    """Looks whether a client is connected: without its scheduler, it waits for ever."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._since: float | None = None

    def check(self) -> None:
        """Raise :class:`SchedulerLost` where the scheduler has been gone for some seconds."""
        if self._client.status == "running":
            self._since = None
            return
        self._since = self._since or time.monotonic()
        if self._client.status == "closed" or time.monotonic() - self._since > CONNECT:
            raise SchedulerLost(f"{self._address}: the Dask scheduler has ended")


def _result(future: Future[Answer], path: Path) -> Answer:
    """What was read. Raises what refused it, and :class:`SchedulerLost`."""
    try:
        return future.result()
    except CancelledError as error:
        raise SchedulerLost(f"{path}: the scheduler ended, or the task was cancelled") from error
    except Exception as error:
        if isinstance(error, AbistoreError) or not type(error).__module__.startswith("distributed"):
            raise
        if type(error).__name__ == "KilledWorker":
            message = f"{path}: each worker that read it, or others with it, was killed"
            raise LimitExceeded(message, "give the workers more memory") from error
        raise SchedulerLost(f"the scheduler or its workers failed: {error}") from error


# --- storing ------------------------------------------------------------------------------------------------------


class _Stopwatch:
    """How long it took to read a file, however long that waits to be stored."""

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self._ended: float | None = None

    def stop(self, _future: Future[Answer]) -> None:
        self._ended = time.monotonic()

    @property
    def seconds(self) -> float:
        return (self._ended or time.monotonic()) - self.begun


class ReadItem(NamedTuple):
    """An item that is being read: its open file, how it is stored, what will be read, and how long that takes."""

    item: Item
    plan: IngestPlan
    file: InputFile
    future: Future[Answer]
    watch: _Stopwatch

    def read(self, file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
        """What was read. Raises what refused it."""
        return _decoded(_result(self.future, self.item.path))


def _decoded(answer: Answer) -> tuple[Snapshot, ...]:
    return tuple(unpacked(each) if isinstance(each, bytes) else each for each in answer)


class Sink(Protocol):
    """Where snapshots are written: a store, or a folder."""

    def known(self, item: Item, file: InputFile, plan: IngestPlan) -> LoggedItem | None:
        """What becomes of an item that need not be read."""

    def write(self, batch: Sequence[ReadItem]) -> list[LoggedItem]:
        """What became of each item, all of which are written when this returns."""


class _StoreSink:
    """Stores snapshots: those of a batch in one transaction, or each in its own where a gate judges it first."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stack = ExitStack()

    def __enter__(self) -> _StoreSink:
        self._store = self._stack.enter_context(using(self._database, write=True, create=True))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def known(self, item: Item, file: InputFile, plan: IngestPlan) -> LoggedItem | None:
        begun = time.monotonic()
        found = self._in_spite_of_restarts(lambda: ingest_known(self._store, file, plan))
        return None if found is None else logged(item, found, time.monotonic() - begun)

    def write(self, batch: Sequence[ReadItem]) -> list[LoggedItem]:
        if len(batch) > 1 and all(each.plan.gate.is_open for each in batch):
            # where the database ended, or another writer waits for this one, each is stored by itself
            with suppress(StoreError), self._store.batch():
                return [self._stored(each, self._store.part()) for each in batch]
        return [self._in_spite_of_restarts(partial(self._stored, each)) for each in batch]

    def _in_spite_of_restarts(self, work: Callable[[], Result]) -> Result:
        """What ``work`` gives, which is repeated once where the database ended meanwhile."""
        try:
            return work()
        except StoreError as error:
            if type(error) not in ENDING:
                raise
        self._open_again()
        return work()

    def _stored(self, each: ReadItem, within: AbstractContextManager[None] | None = None) -> LoggedItem:
        """What became of an item. Raises :class:`StoreError` only where the database cannot go on."""

        def work() -> Ingested:
            with within or nullcontext():
                return placed(self._store, ingest_read(self._store, each.file, each.plan, each.read))

        return logged(each.item, _safely(each.file.path, work), each.watch.seconds)

    def _open_again(self) -> None:
        """Open a database that ended, which may be starting again. Raises :class:`StoreError`."""
        self._stack.close()
        until, wait = time.monotonic() + PATIENCE, 0.25
        while True:
            try:
                self.__enter__()
            except StoreError:
                if time.monotonic() > until:
                    raise
                time.sleep(wait)
                wait = min(2 * wait, 4.0)
            else:
                return


class _FolderSink:
    """Writes snapshots to a folder, for `import`: each as a file whose name is that of its release and content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be created: {error.strerror}") from error

    def known(self, item: Item, file: InputFile, plan: IngestPlan) -> LoggedItem | None:
        return None

    def write(self, batch: Sequence[ReadItem]) -> list[LoggedItem]:
        return [self._written(each) for each in batch]

    def _written(self, each: ReadItem) -> LoggedItem:
        try:
            snapshots = [labelled(read, each.file.path, each.plan) for read in each.read(each.file, each.plan.options)]
            digests = tuple(map(self._write, snapshots))
        except (SchedulerLost, OutputError):
            raise
        except AbistoreError as error:
            return logged(each.item, _failure(each.item, error), each.watch.seconds)
        line = logged(each.item, Ingested(str(each.item.path), "stored"), each.watch.seconds)
        releases = tuple(f"{one.library}@{one.version}" for one in snapshots)
        return msgspec.structs.replace(line, status="written", releases=releases, digests=digests)

    def _write(self, snapshot: Snapshot) -> str:
        """Write a snapshot; its digest."""
        data = written(snapshot)
        name = f"{snapshot.library}-{snapshot.version}-{snapshot.target.machine}-{digest(data).hex()[:12]}.json"
        path = self._folder / re.sub(r"[/\0]", "_", name)
        try:
            write_whole(path, (data,))
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}", "make room, then resume") from error
        return snapshot_digest(snapshot).hex()


def _safely(path: Path, work: Callable[[], Ingested]) -> Ingested:
    """:func:`ingest_safely`, except for an error that the next item would meet as well."""

    def checked() -> Ingested:
        try:
            return work()
        except StoreError as error:
            if type(error) in ENDING:
                raise _Ended(error) from error
            raise
        except SchedulerLost as error:
            raise _Ended(error) from error

    try:
        return ingest_safely(path, checked)
    except _Ended as ended:
        raise ended.error from None


class _Ended(Exception):
    """The run cannot go on."""

    def __init__(self, error: AbistoreError) -> None:
        super().__init__(error)
        self.error = error


# --- running ------------------------------------------------------------------------------------------------------


class _Run:
    """Items on their way: those that are read wait for the one writer, in the order of the archive."""

    def __init__(
        self,
        plan: IngestPlan,
        place: ReadingPlace,
        sink: Sink,
        log: RunLog,
        progress: Callable[[ArchiveProgress], None] | None,
    ) -> None:
        self._plan = plan
        self._place = place
        self._sink = sink
        self._log = log
        self._progress = progress
        self._tally = ArchiveTally()
        self._waiting: deque[ReadItem] = deque()
        self._bytes = 0
        self._total = self._resumed = 0
        self._begun = time.monotonic()

    def result(self, items: Sequence[Item], before: Mapping[ItemKey, LoggedItem], notes: tuple[str, ...]) -> ArchiveRun:
        """Run all items but those that are done ``before``."""
        self._total = len(items)
        done = {each.key: found for each in items if (found := before.get(each.key)) is not None and found.is_final}
        self._tally.add(done.values())
        self._resumed = len(done)
        try:
            for item in items:
                if item.key not in done:
                    self._begin(item)
            while self._waiting:
                self._write_first()
        finally:
            for each in self._waiting:
                each.file.close()
        return ArchiveRun(
            items=self._total,
            exit_code=self._tally.exit_code,
            seconds=round(time.monotonic() - self._begun, 3),
            counts=dict(sorted(self._tally.counts.items())),
            resumed=self._resumed,
            red=self._tally.red,
            failures=tuple(self._tally.failures()),
            notes=notes,
        )

    def _begin(self, item: Item) -> None:
        """Begin to read an item that is not known, once there is room for it."""
        begun = time.monotonic()
        try:
            plan = item.plan(self._plan)
            file = open_input(item.path)
        except AbistoreError as error:
            self._done([logged(item, _failure(item, error), 0.0)])
            return
        while self._waiting and not self._has_room(file.size):
            self._write_first()
        try:
            known = self._sink.known(item, file, plan)
        except AbistoreError as error:
            known = logged(item, _failure(item, error), time.monotonic() - begun)
        if known is not None:
            file.close()
            self._done([known])
            return
        options = plan.options if has_several(file, plan) else on_platform(plan.options, plan.target)
        with without_cycle_collection():
            future = self._place.begin(item.path, options)
        watch = _Stopwatch(begun)
        future.add_done_callback(watch.stop)
        self._waiting.append(ReadItem(item, plan, file, future, watch))
        self._bytes += file.size
        first = self._waiting[0]
        if first.future.done() and time.monotonic() - first.watch.begun > LINGER:
            self._write_first()

    def _has_room(self, size: int) -> bool:
        return len(self._waiting) < self._place.at_once and self._bytes + size <= MOST_BYTES

    def _write_first(self) -> None:
        """Wait for the first item, and write it with those behind it that are read."""
        batch = list[ReadItem]()
        while self._waiting and len(batch) < MOST_ITEMS and (not batch or self._waiting[0].future.done()):
            first = self._waiting.popleft()
            self._place.wait(first.future)
            batch.append(first)
        try:
            with without_cycle_collection():
                self._done(self._sink.write(batch))
        finally:
            for each in batch:
                self._bytes -= each.file.size
                each.file.close()

    def _done(self, lines: Sequence[LoggedItem]) -> None:
        self._log.write(lines)
        self._tally.add(lines)
        if self._progress is None:
            return
        now, tally = time.monotonic() - self._begun, self._tally
        rate = (tally.done - self._resumed) / now if now > 0 else 0.0
        left = (self._total - tally.done) / rate if rate > 0 else None
        self._progress(ArchiveProgress(tally.done, self._total, tally.failed, tally.red, rate, left))


def _failure(item: Item, error: AbistoreError) -> Ingested:
    return Ingested(str(item.path), "failed", error.exit_code, code=error.code, error=error.message, hint=error.hint)
