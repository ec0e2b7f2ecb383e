"""When reference cycles are collected, and when not."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def with_cycle_collection() -> Iterator[None]:
    """Collects reference cycles in this block: long work would else keep all that it has left behind."""
    enabled = gc.isenabled()
    gc.enable()
    try:
        yield
    finally:
        if not enabled:
            gc.disable()


@contextmanager
def without_cycle_collection() -> Iterator[None]:
    """Collects none in this block: of millions of objects nearly all stay, and looking at them costs a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
