"""What the product does for its users, and what tests need not pay for in each of thousands of calls."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from abistore.extract.headers import subprocess
from abistore.store import engines
from examples.obtain import alone
from tests.build import CACHE

ASLEEP = 1
"""Threads that a worker of xdist has beside its own: one that waits for messages, in Python alone."""


SELDOM = (100_000, 20, 10)
"""How much comes before garbage is looked for: a command looks for none, and snapshots are many objects that stay."""


def spare_the_disk() -> None:
    """Nothing waits for the disk: a store that a test makes outlives no power failure.

    Transactions are as they were, also for a process that is killed: the system keeps what it was given.
    """
    engines._PRAGMAS = (*engines._PRAGMAS, "synchronous = OFF")


def copy_in_spite_of_xdist() -> None:
    """Headers are read in a copy of this process, as a command reads them, and not in one that is started anew.

    The product copies no process that has a second thread, which may hold a lock of a library in C.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        subprocess.may_fork = may_fork


def may_fork() -> bool:
    """Whether no other thread runs but that."""
    from abistore.extract.headers.cursors import libclang

    libclang()  # or each copy loads it
    return len(list(Path("/proc/self/task").iterdir())) <= 1 + ASLEEP


@contextmanager
def collecting() -> Iterator[None]:
    """No garbage is looked for among seventeen thousand tests: not while they are found, and not while they run."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*SELDOM)
        gc.enable()


@contextmanager
def compiled_once(tests: Path) -> Iterator[None]:
    """On a fresh checkout one worker compiles what all of them import while they look for tests; the others wait."""
    if _is_compiled(tests):
        yield
        return
    with ExitStack() as held:
        held.enter_context(alone(CACHE / "locks" / "collection"))
        if _is_compiled(tests):
            held.close()
        yield


def _is_compiled(tests: Path) -> bool:
    """Whether the last of the folder's own modules was compiled, which come after those of almost all rooms."""
    last = max(path.stem for path in tests.glob("test_*.py"))
    return any((tests / "__pycache__").glob(f"{last}.*.pyc"))
