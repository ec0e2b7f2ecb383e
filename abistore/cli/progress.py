"""A progress bar on standard error, for people who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import click

from abistore.cli.options.shared import SharedSettings
from abistore.model.words.characters import in_line

PATIENCE = 1.0
"""Seconds before a bar appears: shorter work needs none."""

STEPS = 1000
WIDEST = 200
"""How many characters of a label are shown."""

Advance: TypeAlias = Callable[[str, float], None]
"""Called with what is being done, and how much of it is done, from 0 to 1."""


def _label(what: str | None) -> str | None:
    return in_line(what, WIDEST) if what else what


class ProgressBar:
    """A bar that appears when the work takes long."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._started = time.monotonic()
        self._bar: Any = None

    def advance(self, what: str, done: float) -> None:
        """Show ``what`` is being done, and how much of it, from 0 to 1."""
        if self._bar is None and time.monotonic() - self._started >= PATIENCE:
            bar = click.progressbar(length=STEPS, file=sys.stderr, item_show_func=_label)
            self._bar = self._stack.enter_context(bar)
        if self._bar is not None:
            self._bar.update(int(done * STEPS) - self._bar.pos, what)

    def finish(self) -> None:
        """Fill the bar, where one appeared: the work is done."""
        if self._bar is not None:
            self.advance("", 1.0)


@contextmanager
def progress(settings: SharedSettings) -> Iterator[Advance | None]:
    """The function to call as the work advances; ``None`` where nobody watches."""
    if settings.json or settings.verbosity < 0 or not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as stack:
        bar = ProgressBar(stack)
        yield bar.advance
        bar.finish()
