"""Where the process starts: an interrupt ends it without a word, however early it comes."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """The ``abistore`` command. Nothing heavy is imported before an interrupt is prepared for.

    Who started us with interrupts ignored, as shells do in the background, wants them ignored.
    """
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from abistore.cli.main import main as run

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _leave()


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)
