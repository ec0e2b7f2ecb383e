"""Reading a file within limits: at once on the main thread, by a worker process on any other."""

from __future__ import annotations

import threading

from abistore.extract.capture import read_all
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot


def read_bounded(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
    """:func:`abistore.extract.capture.read_all`, within limits whoever calls.

    The kernel's signals and :mod:`abistore.limits` reach the main thread only. There a file is read at once, without
    the cost of another process; any other thread has a warm worker read it.
    """
    if threading.current_thread() is threading.main_thread():
        return read_all(file, options)
    from abistore.extract.worker.pool import shared
    from abistore.extract.worker.worker import IS_SUPPORTED

    return shared().read(file, options) if IS_SUPPORTED else read_all(file, options)
