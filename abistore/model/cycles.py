"""Holding back the collection of reference cycles, and having it where it is needed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def with_cycle_collection() -> Iterator[None]:
    """What goes on for long, making and leaving one thing after another, must leave no circles of objects behind."""
    enabled = gc.isenabled()
    gc.enable()
    try:
        yield
    finally:
        if not enabled:
            gc.disable()


@contextmanager
def without_cycle_collection() -> Iterator[None]:
    """Millions of small objects are made and nearly all of them stay: looking for cycles among them costs a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
