"""The chart of a line: its exports, what each release changed, and whether it may ship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from abistore.report.history import (
    HistoryRow,
    Mark,
    decision_of,
    mark_of,
    outcome_mark,
)

LEFT, RIGHT = 62, 26
NARROWEST, WIDEST, WANTED = 18, 112, 890
"""The width of a release in the chart, and of all of them where there is room."""

TOP, BOTTOM = 38.0, 126.0
"""Between which heights the exports are drawn, from none to the most; above them stand the SONAMEs."""

MIDDLE, TALLEST = 168.0, 28.0
"""Added and changed grow up from the middle, removed down, at most so far."""

LABELS, LEVEL, TILTED = 270, 282, 336
"""The height of the labels, and of a chart whose labels lie level or are tilted."""

LETTER = 6.6
"""The width of a letter, so that labels are cut before they leave their place."""

LABEL_LETTERS = 12
SIZE = 22.0
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
    """One release: the marks of its outcome and verdict, its label (cut), and what the pointer shows."""

    row: HistoryRow
    x: float
    y: float
    outcome: Mark
    verdict: Mark
    label: str
    title: str


class Chart(NamedTuple):
    """All places; ``line`` are the exports as the points of a path, ``ticks`` the numbers beside it."""

    width: float
    height: int
    bands: tuple[Band, ...]
    line: str
    ticks: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]
    columns: tuple[Column, ...]
    step: float
    tilted: bool
    size: float


def chart(rows: Sequence[HistoryRow]) -> Chart:
    """The chart of releases in release order, oldest first; there is at least one. Its axis begins at zero."""
    step = round(max(NARROWEST, min(WIDEST, WANTED / len(rows))), 1)
    most = max(row.release.exports for row in rows)
    tilted = any(len(_cut(row.release.version, LABEL_LETTERS)) * LETTER > step - 4 for row in rows)
    return Chart(
        round(LEFT + step * len(rows) + RIGHT, 1),
        TILTED if tilted else LEVEL,
        tuple(_bands(rows, step)),
        _path([_height(row.release.exports, most) for row in rows], step),
        tuple((_height(count, most), count) for count in sorted({0, most})),
        tuple(_bars(rows, step)),
        tuple(_columns(rows, step, most)),
        step,
        tilted,
        round(min(SIZE, step * 1.1), 1),
    )


def _height(count: int, most: int) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * count / max(most, 1), 1)


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


def _columns(rows: Sequence[HistoryRow], step: float, most: int) -> Iterator[Column]:
    for number, row in enumerate(rows):
        verdict, outcome = mark_of(row), outcome_mark(decision_of(row))
        yield Column(
            row,
            round(LEFT + step * (number + 0.5), 1),
            _height(row.release.exports, most),
            outcome,
            verdict,
            _cut(row.release.version, LABEL_LETTERS),
            _title(row, outcome, verdict),
        )


def _title(row: HistoryRow, outcome: Mark, verdict: Mark) -> str:
    churn = row.churn
    changes = f", +{churn.added} -{churn.removed} ~{churn.changed}" if churn else ""
    compared = f" compared with {row.previous}" if row.previous else ""
    return f"{row.release.version}: {outcome.words}; {verdict.words}{compared}; {row.release.exports} exports{changes}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…" if letters > 2 else ""
