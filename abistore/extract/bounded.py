"""Reading a file within limits: here, by a worker where a thread asks, or in a copy of this process beside another."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from abistore.errors import AbistoreError, named_error
from abistore.extract.capture import read_all
from abistore.extract.files import InputFile, InputFolder
from abistore.extract.reader import ExtractOptions, is_package
from abistore.limits import may_fork
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.process import Answered, Copy, Failed

BESIDE_A_FILE: Final = 8 << 20
"""Bytes of a file that is worth a copy of this process while another file is read.

Both processes then load the readers, a fifth more processor time: of a smaller file hardly any time would be won.
"""

BESIDE_A_STORE: Final = 256 << 10
"""Bytes of a file that is worth a copy while a database is opened, for which no reader is loaded."""

Read: TypeAlias = Callable[[], tuple[Snapshot, ...]]


def read_bounded(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
    """:func:`abistore.extract.capture.read_all`, within limits whoever calls.

    The kernel's signals and :mod:`abistore.limits` reach the main thread only. There a file is read at once, without
    the cost of another process; any other thread has a warm worker read it.
    """
    if threading.current_thread() is threading.main_thread():
        return read_all(file, options)
    from abistore.extract.workers import IS_SUPPORTED, shared

    return shared().read(file, options) if IS_SUPPORTED else read_all(file, options)


@contextmanager
def read_beside(file: InputFile, options: ExtractOptions, worth: int = BESIDE_A_FILE) -> Iterator[Read]:
    """Begins to read ``file``, and yields what gives its snapshots as :func:`read_bounded` does, errors included.

    A library is worth a copy of this process from ``worth`` bytes on; a folder, and one with headers, always is. The
    file is read only when it is asked for where no second core is idle, where this process cannot be copied, and
    where the copy ended without an answer.
    """
    copy = None
    if _is_worth_a_copy(file, options, worth) and may_fork() and _has_idle_core():
        from abistore.process import Copy

        silent = msgspec.structs.replace(options, progress=None)
        with suppress(OSError):  # the system allows no further process, or no further descriptor
            copy = Copy(lambda: _answer(file, silent))

    try:
        yield lambda: _found(copy, file, options)
    finally:
        if copy:
            copy.kill()


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


def _answer(file: InputFile, options: ExtractOptions) -> Answered | Failed:
    """In the copy: what is read, as bytes. A defect of ours is told by the original, which then reads the file."""
    from abistore.process import Answered, Failed

    try:
        return Answered(msgspec.msgpack.encode(read_bounded(file, options)))
    except AbistoreError as error:
        return Failed(type(error).__name__, error.message, error.hint)


def _found(copy: Copy | None, file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
    """What the copy read; where it ended without an answer, the file is read here."""
    if copy is None:
        return read_bounded(file, options)
    from abistore.process import Ended, Failed

    try:
        answer = copy.answer()
    except Ended:
        return read_bounded(file, options)
    if isinstance(answer, Failed):
        raise named_error(answer.kind, answer.message, answer.hint)
    return msgspec.msgpack.decode(answer.data, type=tuple[Snapshot, ...])
