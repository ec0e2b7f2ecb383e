"""A worker: a process that reads files for this one. It is killed and replaced if a file takes too much."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from abistore.child import Child
from abistore.confinement import roots
from abistore.errors import AbistoreError, ExtractError, LimitExceeded, named_error
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.extract.worker.messages import Answer, ReadFailure, ReadRequest, ReadResult, receive_answer, send_request
from abistore.limits import SECONDS, SECONDS_PER_MEGABYTE
from abistore.model.snapshot import Snapshot

IS_SUPPORTED = hasattr(socket, "send_fds")

_POLL = 50
"""Milliseconds after which a caller is asked again whether it still wants an answer."""


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


class _Gone(Exception):
    """The process has ended."""


def _never() -> bool:
    return False


class Worker:
    """One process, started with the first file and kept for the next. Serves one caller at a time."""

    def __init__(self, bounds: ReadLimits | None = None) -> None:
        self.bounds = bounds or ReadLimits()
        self._child = Child("abistore.extract.worker.process")

    @property
    def pid(self) -> int | None:
        """The process that reads now or would read next; ``None`` where none is running."""
        return self._child.pid

    def read(
        self, file: InputFile, options: ExtractOptions, cancelled: Callable[[], bool] = _never
    ) -> tuple[Snapshot, ...]:
        """What :func:`abistore.extract.capture.read_all` gives.

        Raises :class:`LimitExceeded` where a limit was reached or the system killed the process, and
        :class:`ExtractError` where the process crashed, or ``cancelled`` became true.
        """
        channel = self._child.channel()
        try:
            self._ask(channel, file, options)
            answer = self._wait(channel, file, options, cancelled)
        except _Gone:
            raise self._ended(file) from None
        except BaseException:
            self.kill()
            raise
        if answer.resident > self.bounds.keep:
            self.kill()
        if isinstance(answer, ReadFailure):
            raise named_error(answer.kind, answer.message, answer.hint)
        from abistore.model.snapshot_file.codec import from_json

        return tuple(map(from_json, answer.snapshots))

    def kill(self) -> None:
        """Ends the process at once; the next file starts another one."""
        self._child.kill()

    def _ask(self, channel: socket.socket, file: InputFile, options: ExtractOptions) -> None:
        silent, bounds = replace(options, progress=None), self.bounds
        tells_progress = options.progress is not None
        request = ReadRequest(file.path, _folder(), silent, tells_progress, bounds.seconds, bounds.memory, roots())
        try:
            send_request(channel, request, file.descriptor)
        except OSError:
            raise _Gone from None

    def _wait(
        self, channel: socket.socket, file: InputFile, options: ExtractOptions, cancelled: Callable[[], bool]
    ) -> ReadResult | ReadFailure:
        silence = self.bounds.silence or 10 * (SECONDS + SECONDS_PER_MEGABYTE * file.size / (1 << 20))
        channel.settimeout(silence)
        arrivals = select.poll()
        arrivals.register(channel, select.POLLIN)
        heard = time.monotonic()
        while True:
            if arrivals.poll(_POLL):
                answer = _received(channel)
                if isinstance(answer, ReadResult | ReadFailure):
                    return answer
                if answer is not None:
                    heard = time.monotonic()
                    if options.progress:
                        options.progress(answer.what, answer.done)
            if cancelled():
                raise ExtractError(f"{file.path}: reading it was cancelled", "read it again")
            if time.monotonic() > heard + silence:
                raise LimitExceeded(f"reading {file.path.name} gave no sign of life for {silence:,.0f} seconds")

    def _ended(self, file: InputFile) -> AbistoreError:
        """Why the process ended, as an error."""
        how = self._child.how_it_ended()
        if how == "killed":
            return LimitExceeded(f"reading {file.path.name} was killed by the system, most likely for its memory")
        return ExtractError(
            f"{file.path}: the process that read it crashed ({how})", "report it with the file, if you may"
        )


def _folder() -> Path:
    """What relative paths start from; where somebody has removed it, there are none that lead anywhere."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def _received(channel: socket.socket) -> Answer | None:
    """The next answer; ``None`` where it stops in the middle."""
    try:
        return receive_answer(channel)
    except TimeoutError:
        return None
    except (EOFError, OSError):
        raise _Gone from None
