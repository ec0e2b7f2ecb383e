"""Where the process starts. An interrupt ends it silently, even during the imports."""

from __future__ import annotations

import gc
import os

TYPE_CHECKING = False  # importing typing takes as long as everything here
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130
AGAIN = 0.001
"""The seconds until a lost interrupt is repeated."""


def main() -> NoReturn:
    """The ``abistore`` command. Interrupts are handled before anything is imported."""
    gc.disable()  # a command's objects live until it ends, and large ones free their own cycles
    try:
        _run()
    except KeyboardInterrupt:
        _leave()


def serve_mcp() -> NoReturn:
    """The ``abistore-mcp`` command: ``abistore mcp serve`` with the same options, for the configuration of clients."""
    import sys

    from abistore.cli.main import run

    words = sys.argv[1:]
    sys.exit(run(words if words == ["--version"] else ["mcp", "serve", *words]))


def _run() -> NoReturn:
    """End at once when interrupted during the imports, where an exception may get lost.

    A parent that ignores interrupts, as shells do for background jobs, wants us to ignore them too.
    """
    import signal

    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, _leave)
    from abistore.cli.main import main as run

    if handled:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _repeat_lost_interrupts()
    run()


def _repeat_lost_interrupts() -> None:
    """Repeat an interrupt that lands in a finaliser, where the interpreter prints and forgets it."""
    import signal
    import sys

    hook = sys.unraisablehook

    def told(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt and hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            hook(unraisable)

    sys.unraisablehook = told


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)
