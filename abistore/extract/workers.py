"""Worker processes that all threads of this process share: each reads files, and is replaced if one takes too much."""

from __future__ import annotations

import atexit
import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import msgspec
from msgspec.structs import replace

from abistore.errors import AbistoreError, ExtractError, LimitExceeded, named_error
from abistore.extract.capture import read_all
from abistore.extract.files import InputFile, open_input
from abistore.extract.reader import ExtractOptions
from abistore.files import confined, roots
from abistore.limits import SECONDS, SECONDS_PER_MEGABYTE, limits, limits_for
from abistore.model.packing import packed, unpacked
from abistore.model.snapshot import Snapshot
from abistore.process import Answered, Cancelled, Child, Ended, Failed, Progress, Say, Silent, answer_requests, resident

_LONG, _MUCH = 1e8, 1 << 50
"""Seconds and bytes that no file takes."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Asks for the snapshots of the file whose descriptor comes with the message.

    ``folder`` is what paths are relative to. ``options`` are without their ``progress``, which is told where
    ``tells_progress``. ``seconds`` and ``memory`` bound the reading where they are given, and
    ``roots`` the folders that other files are read from. It is pickled: it comes from this program.
    """

    path: Path
    folder: Path
    options: ExtractOptions
    tells_progress: bool
    seconds: float | None
    memory: int | None
    roots: tuple[str, ...] | None


def serve(descriptor: int) -> None:
    """Read the files that come over the socket ``descriptor``."""
    import_module("abistore.extract.dwarf.layout")  # while nobody waits
    answer_requests(descriptor, _answer)


def _answer(data: bytes, descriptor: int | None, say: Say) -> Answered | Failed:
    request: ReadRequest = pickle.loads(data)
    with suppress(OSError):  # without it, absolute paths can still be read
        os.chdir(request.folder)
    options = request.options
    if request.tells_progress:
        options = replace(options, progress=lambda what, done: say(Progress(what, done)))
    try:
        with confined(request.roots), open_input(request.path, descriptor) as file, _limits(request, file):
            snapshots = list(map(_packed, read_all(file, options)))
    except AbistoreError as error:
        return Failed(type(error).__name__, error.message, error.hint, resident())
    return Answered(msgspec.msgpack.encode(snapshots), resident())


def _limits(request: ReadRequest, file: InputFile) -> AbstractContextManager[None]:
    """The limits that were asked for; those by the file's size hold within them."""
    if request.seconds is None and request.memory is None:
        return nullcontext()
    return limits(request.seconds or _LONG, request.memory or _MUCH, f"reading {file.path.name}")


def _packed(snapshot: Snapshot) -> bytes:
    with limits_for(snapshot.weight, f"packing {snapshot.label}"):
        return packed(snapshot)


IS_SUPPORTED = hasattr(socket, "send_fds")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What reading one file may take. ``None`` means: by the file's size.

    ``seconds`` are of processor time, ``memory`` is in bytes. ``silence`` is how many seconds of wall time may pass
    without a sign of life: it ends what waits and what hangs outside of Python. A worker with more than ``keep`` bytes
    of memory after a file reads no further one.
    """

    seconds: float | None = None
    memory: int | None = None
    silence: float | None = None
    keep: int = 1 << 30


class Worker:
    """One process, started with the first file and kept for the next. Serves one caller at a time."""

    def __init__(self, bounds: ReadLimits | None = None) -> None:
        self.bounds = bounds or ReadLimits()
        self._child = Child("abistore.extract.workers")

    @property
    def pid(self) -> int | None:
        """The process that reads now or would read next; ``None`` where none is running."""
        return self._child.pid

    def read(
        self, file: InputFile, options: ExtractOptions, cancelled: Callable[[], bool] | None = None
    ) -> tuple[Snapshot, ...]:
        """What :func:`abistore.extract.capture.read_all` gives.

        Raises :class:`LimitExceeded` where a limit was reached or the system killed the process, and
        :class:`ExtractError` where the process crashed, or ``cancelled`` became true.
        """
        return tuple(map(unpacked, self.read_packed(file, options, cancelled)))

    def read_packed(
        self,
        file: InputFile,
        options: ExtractOptions,
        cancelled: Callable[[], bool] | None = None,
        folder: Path | None = None,
    ) -> tuple[bytes, ...]:
        """The same, each snapshot packed. Paths are relative to ``folder``, or the current one."""
        bounds, progress = self.bounds, options.progress
        silence = bounds.silence or 10 * (SECONDS + SECONDS_PER_MEGABYTE * file.size / (1 << 20))
        silent = replace(options, progress=None)
        request = ReadRequest(
            file.path, folder or _folder(), silent, progress is not None, bounds.seconds, bounds.memory, roots()
        )
        try:
            answer = self._child.ask(
                pickle.dumps(request),
                file.descriptor,
                progress=(lambda told: progress(told.what, told.done)) if progress else None,
                silence=silence,
                cancelled=cancelled,
            )
        except Cancelled:
            raise ExtractError(f"{file.path}: cancelled", "read it again") from None
        except Silent:
            raise LimitExceeded(f"reading {file.path.name} did not respond for {silence:,.0f} seconds") from None
        except Ended as ended:
            raise _why(ended, file) from None
        if answer.resident > bounds.keep:
            self.kill()
        if isinstance(answer, Failed):
            raise named_error(answer.kind, answer.message, answer.hint)
        try:
            return msgspec.msgpack.decode(answer.data, type=tuple[bytes, ...])
        except msgspec.MsgspecError:
            raise _why(Ended(0), file) from None

    def kill(self) -> None:
        """End the process at once; the next file starts another one."""
        self._child.kill()


def _why(ended: Ended, file: InputFile) -> AbistoreError:
    if ended.how == "killed":
        return LimitExceeded(f"reading {file.path.name} was killed by the system, probably out of memory")
    return ExtractError(
        f"{file.path}: the process that read it crashed ({ended.how})", "report it, with the file if possible"
    )


def _folder() -> Path:
    """What relative paths start from; where somebody has removed it, there are none that lead anywhere."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


class Workers:
    """At most ``most`` workers; a thread that asks while all of them read waits for one."""

    def __init__(self, most: int | None = None, bounds: ReadLimits | None = None) -> None:
        self._free = threading.BoundedSemaphore(most or os.cpu_count() or 1)
        self._bounds = bounds
        self._idle: list[Worker] = []
        self._all: list[Worker] = []

    def read(
        self, file: InputFile, options: ExtractOptions, cancelled: Callable[[], bool] | None = None
    ) -> tuple[Snapshot, ...]:
        """What :meth:`Worker.read` gives."""
        with self._lent() as worker:
            return worker.read(file, options, cancelled)

    def read_packed(self, file: InputFile, options: ExtractOptions, folder: Path | None = None) -> tuple[bytes, ...]:
        """What :meth:`Worker.read_packed` gives."""
        with self._lent() as worker:
            return worker.read_packed(file, options, folder=folder)

    @contextmanager
    def _lent(self) -> Iterator[Worker]:
        with self._free:
            worker = self._taken()
            try:
                yield worker
            finally:
                self._idle.append(worker)

    def _taken(self) -> Worker:
        try:
            return self._idle.pop()
        except IndexError:
            worker = Worker(self._bounds)
            self._all.append(worker)
            return worker

    def close(self) -> None:
        """End all processes; those that read are killed."""
        for worker in self._all:
            worker.kill()


_shared: Workers | None = None
_lock = threading.Lock()


def shared() -> Workers:
    """The workers of this process, made when first asked for and ended with it."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = Workers()
            atexit.register(_shared.close)
        return _shared


def _forget() -> None:
    """A process that was forked has workers of its own: two that write to one socket would mix their words."""
    global _shared, _lock
    _shared, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
