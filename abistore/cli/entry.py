"""Where the process starts: an interrupt ends it without a word, however early it comes."""

from __future__ import annotations

import gc
import os

TYPE_CHECKING = False  # the module that has it takes as long to import as everything here
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """The ``abistore`` command. Nothing is imported before an interrupt is prepared for."""
    gc.disable()  # what a command makes it keeps to its end, and what is large breaks its own cycles
    try:
        _run()
    except KeyboardInterrupt:
        _leave()


def _run() -> NoReturn:
    """Leave at once when interrupted during the imports, within which an exception may get lost.

    Who started us with interrupts ignored, as shells do in the background, wants them ignored.
    """
    import signal

    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from abistore.cli.main import main as run

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)
