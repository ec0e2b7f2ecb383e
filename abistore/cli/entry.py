"""Where the process starts: an interrupt ends it without a word, however early it comes."""

from __future__ import annotations

import gc
import os
import signal
from typing import NoReturn

INTERRUPTED = 130

YOUNG = 20_000
"""So many new objects are looked through for cycles at a time: modules, which stay, make up most of a short command."""


def main() -> NoReturn:
    """The ``abistore`` command. Nothing heavy is imported before an interrupt is prepared for.

    Who started us with interrupts ignored, as shells do in the background, wants them ignored.
    """
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    gc.set_threshold(YOUNG)
    from abistore.cli.main import main as run

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        _leave()


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)
