"""Workers that all threads of a process share: each is started once and reads many files."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable

from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.extract.worker.worker import ReadLimits, Worker
from abistore.model.snapshot import Snapshot


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
        with self._free:
            worker = self._taken()
            try:
                return worker.read(file, options, *(() if cancelled is None else (cancelled,)))
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
        """Ends all processes; those that read are killed."""
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
