"""The history of a line in a terminal: a bar of exports for each release, with its verdict and changes.

Terminals that lack the blocks get plain letters for them: see ``PLAIN`` in :mod:`abistore.cli.main`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.model.labels.sonames import word_on
from abistore.model.words.characters import in_line
from abistore.report.site.marks import mark_of
from abistore.report.site.timeline import History, HistoryRow
from abistore.report.style import Style

LEVELS = "▁▂▃▄▅▆▇█"
PARTS = " ▏▎▍▌▋▊▉"
WIDEST_VERSION = 24
TONES = {"unchanged": "dim", "first": "dim"}
LEGEND = "B breaking, A API break, R risk, C compatible, N no change, ? not judged or not all of it could be checked"


def plot(history: History, style: Style) -> str:
    """The releases of a line as bars, oldest first, each beside what changed since the one before."""
    rows = history.rows
    if not rows:
        return str(history.line)
    return "\n".join((f"{history.line}: exports {sparkline(rows)}", *_lines(rows, style), LEGEND))


def sparkline(rows: Sequence[HistoryRow]) -> str:
    """The exports of all releases in one word of blocks, between the fewest and the most."""
    counts = [row.release.exports for row in rows]
    low, high = min(counts), max(counts)
    blocks = (LEVELS[(count - low) * (len(LEVELS) - 1) // max(high - low, 1)] for count in counts)
    return f"{low} {''.join(blocks)} {high}"


def bar(count: int, most: int, width: int) -> str:
    """A bar of eighths of blocks, as long as ``count`` is part of ``most``."""
    eighths = 8 * width * count // max(most, 1)
    return ("█" * (eighths // 8) + PARTS[eighths % 8]).ljust(width)[:width]


def _lines(rows: Sequence[HistoryRow], style: Style) -> Iterator[str]:
    shown = [in_line(row.release.version, WIDEST_VERSION) for row in rows]
    versions, most = max(map(len, shown)), max(row.release.exports for row in rows)
    digits = len(str(most))
    width = max(8, min(40, style.width - versions - digits - 34))
    before: str | None = None
    for number, (row, version) in enumerate(zip(rows, shown, strict=True)):
        soname = row.release.soname
        if soname != before or not number:
            yield style.paint(f"  {in_line(soname or f'no {word_on(row.release.line.target)}', 80)}", "dim")
        before = soname
        mark = mark_of(row)
        letter = style.paint(mark.letter, TONES.get(mark.tone, mark.tone))
        drawn = bar(row.release.exports, most, width)
        yield f"{version:>{versions}} {letter} {row.release.exports:>{digits}} {drawn} {_changes(row)}".rstrip()


def _changes(row: HistoryRow) -> str:
    if row.churn is None:
        return ""
    signed = (("+", row.churn.added), ("-", row.churn.removed), ("~", row.churn.changed))
    return " ".join(f"{sign}{count}" for sign, count in signed if count)
