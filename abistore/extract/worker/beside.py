"""Reading one file in a copy of this process, while this process reads another."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from abistore.copying import may_fork
from abistore.errors import AbistoreError, named_error
from abistore.extract.input_file import InputFile, InputFolder
from abistore.extract.reader import ExtractOptions, is_package
from abistore.extract.worker.bounded import read_bounded
from abistore.model.snapshot import Snapshot

BESIDE_A_FILE: Final = 8 << 20
"""Bytes of a file that is worth a copy of this process while another file is read.

Both processes then load the readers, a fifth more processor time: of a smaller file hardly any time would be won.
"""

BESIDE_A_STORE: Final = 256 << 10
"""Bytes of a file that is worth a copy while a database is opened, for which no reader is loaded."""

Read: TypeAlias = Callable[[], tuple[Snapshot, ...]]


class _Answer(msgspec.Struct, frozen=True):
    """What the copy read, or else the class, message and hint of its error."""

    snapshots: tuple[Snapshot, ...] = ()
    error: tuple[str, str, str] | None = None


class _Copy:
    """A copy of this process that reads one file."""

    def __init__(self, file: InputFile, options: ExtractOptions) -> None:
        self._answers, answers = os.pipe()
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._answers)
            os.close(answers)
            raise
        if not self._process:
            _read_and_end(file, options, answers)
        os.close(answers)

    def answer(self) -> _Answer | None:
        """What it read; ``None`` where it ended without an answer."""
        with open(self._answers, "rb", closefd=False) as answers, suppress(msgspec.MsgspecError):
            return msgspec.msgpack.decode(answers.read(), type=_Answer)
        return None

    def end(self) -> None:
        """Ends it, also in mid-work."""
        os.close(self._answers)
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)


@contextmanager
def read_beside(file: InputFile, options: ExtractOptions, worth: int = BESIDE_A_FILE) -> Iterator[Read]:
    """Begins to read ``file``, and yields what gives its snapshots as :func:`read_bounded` does, errors included.

    A library is worth a copy of this process from ``worth`` bytes on; a folder, and one with headers, always is. The
    file is read only when it is asked for where no second core is idle, where this process cannot be copied, and
    where the copy ended without an answer.
    """
    copy = None
    if _is_worth_a_copy(file, options, worth) and may_fork() and _has_idle_core():
        with suppress(OSError):  # the system allows no further process, or no further descriptor
            copy = _Copy(file, options)

    def found() -> tuple[Snapshot, ...]:
        answer = copy.answer() if copy else None
        if answer is None:
            return read_bounded(file, options)
        if answer.error is not None:
            raise named_error(*answer.error)
        return answer.snapshots

    try:
        yield found
    finally:
        if copy:
            copy.end()


def _is_worth_a_copy(file: InputFile, options: ExtractOptions, worth: int) -> bool:
    is_folder = isinstance(file, InputFolder)
    unpacks = options.debug_packages or options.devel_packages or (is_package(file) and not is_folder)
    if unpacks or options.debuginfod:
        return False  # a copy that is ended would leave behind what it unpacked or downloaded so far
    return is_folder or file.size >= worth or options.headers is not None


def _has_idle_core() -> bool:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])  # proc(5): with this process
    except (OSError, ValueError, IndexError):
        running = 1
    return running < cores


def _read_and_end(file: InputFile, options: ExtractOptions, answers: int) -> None:
    """In the copy: read, answer, and end without tidying up what belongs to the original.

    A defect of ours is told by the original, which reads the file itself when there is no answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the original is interrupted, and ends this process
    with suppress(BaseException):
        answer = _answer(file, msgspec.structs.replace(options, progress=None))
        with open(answers, "wb") as channel:
            channel.write(msgspec.msgpack.encode(answer))
    os._exit(0)


def _answer(file: InputFile, options: ExtractOptions) -> _Answer:
    try:
        return _Answer(read_bounded(file, options))
    except AbistoreError as error:
        return _Answer(error=(type(error).__name__, error.message, error.hint))
