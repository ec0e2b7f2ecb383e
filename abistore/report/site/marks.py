"""The mark of a verdict: a letter, a shape and a tone, so that nobody needs to tell colours apart."""

from __future__ import annotations

from typing import NamedTuple

from abistore.model.findings import Verdict
from abistore.report.heading import CHECKED
from abistore.report.site.timeline import HistoryRow


class Mark(NamedTuple):
    """How a verdict is shown. ``tone`` is a CSS class, ``points`` the corners of the shape in a square of 2 by 2.

    Without corners the shape is a circle.
    """

    letter: str
    tone: str
    words: str
    points: tuple[tuple[float, float], ...] = ()


_OCTAGON = ((-0.4, -1), (0.4, -1), (1, -0.4), (1, 0.4), (0.4, 1), (-0.4, 1), (-1, 0.4), (-1, -0.4))
_DIAMOND = ((0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0))
_TRIANGLE = ((0, -1.15), (1.15, 0.95), (-1.15, 0.95))
_SQUARE = ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9))

MARKS = {
    Verdict.BREAKING: Mark("B", "breaking", "Breaking", _OCTAGON),
    Verdict.API_BREAK: Mark("A", "api_break", "API break", _DIAMOND),
    Verdict.COMPATIBLE_WITH_RISK: Mark("R", "risk", "Compatible with risk", _TRIANGLE),
    Verdict.COMPATIBLE: Mark("C", "compatible", "Compatible"),
    Verdict.NO_CHANGE: Mark("N", "unchanged", "No change"),
}
UNJUDGED = Mark("?", "unchecked", "Not judged", _SQUARE)
FIRST = Mark("1", "first", "First stored release", _SQUARE)
PARTIAL = Mark("?", "unchecked", f"No change found {CHECKED}", _SQUARE)


def mark_of(row: HistoryRow) -> Mark:
    """The mark of a release and the one before it. A good verdict does not look good if evidence is missing."""
    return FIRST if row.previous is None else mark(row.verdict, row.evidence_gap)


def mark(verdict: Verdict | None, gap: str = "") -> Mark:
    """The mark of a verdict; of none, that nobody judged."""
    if verdict is None:
        return UNJUDGED
    found = MARKS[verdict]
    if not gap:
        return found
    words = f"{found.words} {CHECKED}"
    if verdict in {Verdict.NO_CHANGE, Verdict.COMPATIBLE}:
        return PARTIAL._replace(words=words)
    return found._replace(words=words)
