"""Writing answers: one JSON object, or text in columns, with a progress bar for people who wait."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import click

from abistore.cli.options import SharedSettings
from abistore.errors import LONGEST as LONGEST_ERROR
from abistore.errors import AbistoreError, OutputError
from abistore.model.words import bounded, in_line, json_text, visible

if TYPE_CHECKING:
    from abistore.model.envelope import AnswerError, Conclusion, Envelope, HeldAnswer
    from abistore.service.listing import FailedLibrary

LONGEST = 400
"""The longest cell, in characters: all rows are padded to the longest of a column."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows below their heads, each in one line without trailing blanks. The columns in ``right`` are numbers."""
    every = [list(heads), *([in_line(cell, LONGEST) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(heads))]
    lines = (
        "  ".join(
            cell.rjust(widths[column]) if column in right else cell.ljust(widths[column])
            for column, cell in enumerate(row)
        )
        for row in every
    )
    return "\n".join(line.rstrip() for line in lines)


def deliver(settings: SharedSettings, exit_code: int) -> None:
    """Write the answer that a call holds, if any, as one JSON object within limits of time and memory.

    It is ASCII: file names may be no text at all. Raises :class:`OutputError` and :class:`LimitExceeded`.
    """
    held, settings.answer = settings.answer, None
    if held is None:
        return
    from abistore.limits import limits_for

    with limits_for(held.size, "writing the answer"):
        text = _as_json(_envelope(settings, held, exit_code))
    for each in held.files:
        write_file(each, text.encode(), b"\n")
    if held.printed:
        click.echo(text)


def _envelope(settings: SharedSettings, held: HeldAnswer, exit_code: int) -> Envelope:
    from abistore.model.envelope import AnswerError, Envelope, schema_of

    verdict, outcome = held.conclusion or (None, None)
    error = AnswerError(held.error.code, held.error.message, held.error.hint) if held.error is not None else None
    return Envelope(schema_of(settings.words), outcome, exit_code, verdict, held.value, tuple(settings.notes), error)


def _as_json(envelope: Envelope) -> str:
    import json

    from abistore.report.plain import plain

    return json_text(json.dumps(plain(envelope), indent=2))


def fail(settings: SharedSettings, error: AbistoreError) -> None:
    """Say an expected error: in two lines, or as the answer."""
    if settings.json:
        from abistore.model.envelope import HeldAnswer

        settings.answer = HeldAnswer(None, error=error)
    else:
        say_error(error.message, error.hint)


def say(text: str, *, err: bool = False, color: bool = False) -> None:
    """Print lines of text. Control characters in what they quote are made visible, so that no terminal obeys them.

    Rendered reports went through the same already and are printed with ``click.echo``. Colours are taken out where the
    output is no terminal, unless ``color`` asks for them.
    """
    click.echo(visible(bounded(text)), err=err, color=color or None)


def say_error(message: str, hint: str) -> None:
    """Print an error in two lines on standard error."""
    click.echo(f"error: {in_line(message, LONGEST_ERROR)}", err=True)
    if hint:
        click.echo(f"hint: {in_line(hint, LONGEST_ERROR)}", err=True)


def answer(
    settings: SharedSettings,
    value: Any,
    text: Callable[[], str],
    *,
    conclusion: Conclusion | None = None,
    error: AbistoreError | AnswerError | None = None,
    file: Path | None = None,
) -> None:
    """Give a result: ``value`` as JSON, when the exit code is known, or ``text()`` now, within limits.

    ``file`` gets JSON whatever is printed.
    """
    if settings.json or file is not None:
        from abistore.model.envelope import HeldAnswer

        settings.answer = HeldAnswer(value, conclusion, error, () if file is None else (file,), settings.json)
    if settings.json:
        return
    from abistore.limits import limits_for

    with limits_for(0, "writing the answer"):
        rendered = text()
    if rendered:
        say(rendered, color=colour_wanted(settings))


def with_failed(value: Mapping[str, Any], failed: Sequence[FailedLibrary], several: bool) -> dict[str, Any]:
    """An answer about several libraries, with those that have none; ``value`` as it is where one was asked about."""
    return {**value, "failed": tuple(failed)} if several else dict(value)


def beside_failed(text: str, failed: Sequence[FailedLibrary]) -> str:
    """Text about several libraries, and a line for each that failed."""
    return "\n".join((text, *(f"{each.library}: {each.error}" for each in failed)))


def note(settings: SharedSettings, text: str, label: str = "") -> None:
    """Make a remark: on standard error behind its ``label``, nowhere with ``-q``; with ``--json`` in the answer."""
    if settings.json:
        settings.notes.append(text)
    elif settings.verbosity >= 0:
        say(f"{label}: {text}" if label else text, err=True)


def write_file(path: Path, *pieces: bytes) -> None:
    """Write ``pieces`` to a file, completely or not at all. Raises :class:`OutputError`."""
    from abistore.files import write_whole  # few commands write files

    try:
        if path.exists() and not path.is_file():  # a device
            with path.open("wb") as device:
                device.writelines(pieces)
        else:
            write_whole(path, pieces)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror}", "name another file, or a folder that exists"
        ) from error


def is_file(output: Path | None) -> TypeGuard[Path]:
    """Whether ``-o`` names a file: without it, or with ``-``, standard output is meant."""
    return output is not None and str(output) != "-"


def write_snapshot(settings: SharedSettings, output: Path | None, data: bytes, summary: Mapping[str, Any]) -> None:
    """Write a snapshot's JSON to standard output, or to a file; then ``summary`` is the answer for ``--json``."""
    pieces = data, b"\n"  # joining them would copy a large file
    if is_file(output):
        write_file(output, *pieces)
        if settings.json:
            answer(settings, {"output": str(output), "bytes": sum(map(len, pieces)), **summary}, str)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()


def colour_wanted(settings: SharedSettings) -> bool:
    """Whether text is coloured: what ``--color`` says, then the environment, then whether this is a terminal.

    ``NO_COLOR`` (no-color.org) wins over ``FORCE_COLOR`` (force-color.org), as it does in Python itself, and both over
    ``CLICOLOR_FORCE`` and ``CLICOLOR`` (bixense.com/clicolors). An empty variable says nothing.
    """
    if settings.color != "auto":
        return settings.color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in {"", "0"}:
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and os.environ.get("CLICOLOR") != "0"


def width() -> int:
    """The columns that a line of text may have: as ``COLUMNS`` says, else as the terminal has."""
    return screen() or 100


def screen() -> int | None:
    """The columns of what the text is read on; ``None`` where neither ``COLUMNS`` nor a terminal says."""
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS")):
        return None
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)


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
