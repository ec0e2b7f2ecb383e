"""The chart of a line: exports, changes, SONAMEs and verdicts, release by release, as places in an SVG drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from abistore.report.site.marks import Mark, mark_of
from abistore.report.site.timeline import HistoryRow

LEFT, RIGHT = 58, 26
NARROWEST, WIDEST, WANTED = 14, 96, 870
"""The width of a release in the chart, and of all of them where there is room."""

TOP, BOTTOM = 34.0, 138.0
"""Between which heights the exports are drawn; above them stand the SONAMEs."""

MIDDLE, TALLEST = 184.0, 28.0
"""Added and changed grow up from the middle, removed down, at most so far."""

MARKED = 234.0
LETTER = 6.6
"""The width of a letter, so that labels are cut before they leave their place."""

LABEL_LETTERS = 12
RADIUS = 7.0
"""Of a mark; less where the releases stand closer."""


class Band(NamedTuple):
    """Releases in a row that have one SONAME; ``text`` is cut to their width."""

    x: float
    width: float
    text: str
    soname: str


class Bar(NamedTuple):
    """How many exports or declarations were ``added``, ``changed`` or ``removed``."""

    tone: str
    x: float
    y: float
    width: float
    height: float


class Column(NamedTuple):
    """One release: its verdict's mark, its label (cut), and what the pointer shows."""

    row: HistoryRow
    x: float
    y: float
    mark: Mark
    corners: str
    label: str
    title: str


class Chart(NamedTuple):
    """All places; ``line`` are the exports as the points of a path, ``ticks`` the numbers beside it."""

    width: float
    bands: tuple[Band, ...]
    line: str
    ticks: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]
    columns: tuple[Column, ...]
    step: float
    tilted: bool
    radius: float


def chart(rows: Sequence[HistoryRow]) -> Chart:
    """The chart of releases in release order, oldest first; there is at least one."""
    step = max(NARROWEST, min(WIDEST, WANTED / len(rows)))
    low, high = _range([row.release.exports for row in rows])
    tilted = any(len(_cut(row.release.version, LABEL_LETTERS)) * LETTER > step - 4 for row in rows)
    return Chart(
        round(LEFT + step * len(rows) + RIGHT, 1),
        tuple(_bands(rows, step)),
        _path([_height(row.release.exports, low, high) for row in rows], step),
        tuple((_height(count, low, high), count) for count in sorted({low, high})),
        tuple(_bars(rows, step)),
        tuple(_columns(rows, step, (low, high))),
        round(step, 1),
        tilted,
        round(min(RADIUS, step * 0.43), 1),
    )


def spark(rows: Sequence[HistoryRow], width: float, height: float) -> str:
    """The exports of releases as the points of a small line."""
    counts = [row.release.exports for row in rows]
    low, high = min(counts), max(counts)
    run = width / max(len(counts) - 1, 1)
    rise = (height - 2) / max(high - low, 1)
    heights = [height / 2 if low == high else height - 1 - (count - low) * rise for count in counts]
    places = [(number * run, y) for number, y in enumerate(heights)]
    if len(places) == 1:
        places.append((width, places[0][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def corners(mark: Mark, x: float, y: float, radius: float) -> str:
    """The corners of a mark's shape around a place, as SVG has them; empty for a circle."""
    return " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in mark.points)


def _range(counts: Sequence[int]) -> tuple[int, int]:
    """The range of the chart: from 0 if the counts differ much, else from the least to the most."""
    low, high = min(counts), max(counts)
    return (0 if 2 * low < high else low), high


def _height(count: int, low: int, high: int) -> float:
    return round((TOP + BOTTOM) / 2 if low == high else BOTTOM - (BOTTOM - TOP) * (count - low) / (high - low), 1)


def _path(heights: Sequence[float], step: float) -> str:
    """Steps, not slopes: a release has what it has until the next one."""
    moves = [f"M{LEFT:.1f} {heights[0]:.1f}"]
    for number, height in enumerate(heights):
        moves.append(f"V{height:.1f}H{LEFT + step * (number + 1):.1f}")
    return "".join(moves)


def _bands(rows: Sequence[HistoryRow], step: float) -> Iterator[Band]:
    start = 0
    for soname, group in groupby(rows, key=lambda row: row.release.soname or ""):
        length = len(tuple(group))
        width = step * length
        yield Band(round(LEFT + step * start, 1), round(width, 1), _cut(soname, int((width - 8) / LETTER)), soname)
        start += length


def _bars(rows: Sequence[HistoryRow], step: float) -> Iterator[Bar]:
    churns = [row.churn for row in rows if row.churn]
    most = max((max(one.added + one.changed, one.removed) for one in churns), default=0)
    scale = TALLEST / sqrt(most) if most else 0.0
    width = round(min(step * 0.56, 22.0), 1)
    for number, row in enumerate(rows):
        if row.churn is None:
            continue
        x = round(LEFT + step * (number + 0.5) - width / 2, 1)
        both = sqrt(row.churn.added + row.churn.changed) * scale
        added = both * row.churn.added / max(row.churn.added + row.churn.changed, 1)
        removed = sqrt(row.churn.removed) * scale
        for tone, y, height in (
            ("added", MIDDLE - added, added),
            ("changed", MIDDLE - both, both - added),
            ("removed", MIDDLE, removed),
        ):
            if height:
                yield Bar(tone, x, round(y, 1), width, round(max(height, 1.0), 1))


def _columns(rows: Sequence[HistoryRow], step: float, span: tuple[int, int]) -> Iterator[Column]:
    for number, row in enumerate(rows):
        mark, x = mark_of(row), LEFT + step * (number + 0.5)
        yield Column(
            row,
            round(x, 1),
            _height(row.release.exports, *span),
            mark,
            corners(mark, x, MARKED, min(RADIUS, step * 0.43)),
            _cut(row.release.version, LABEL_LETTERS),
            _title(row, mark),
        )


def _title(row: HistoryRow, mark: Mark) -> str:
    churn = row.churn
    changes = f", +{churn.added} -{churn.removed} ~{churn.changed}" if churn else ""
    since = f" since {row.previous}" if row.previous else ""
    return f"{row.release.version}: {mark.words}{since}; {row.release.exports} exports{changes}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…" if letters > 2 else ""
