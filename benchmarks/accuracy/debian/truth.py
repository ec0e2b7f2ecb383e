"""What was found out about the pairs by reading: the truth, and what led to wrong answers.

``truth.csv`` says whether built programs break (``break``), whether sources do (``source_break``), each ``yes``,
``no`` or ``doubtful``, and why. ``causes.csv`` says what led to the wrong answers about a pair.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TRUTH: Final = Path(__file__).with_name("truth.csv")
CAUSES: Final = Path(__file__).with_name("causes.csv")

WORDS: Final[Mapping[str, bool | None]] = {"yes": True, "no": False, "doubtful": None}


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether built programs break and whether sources do, with the reason; ``None`` is doubtful."""

    breaks: bool | None
    breaks_source: bool | None
    reason: str

    @property
    def doubtful(self) -> bool:
        """Whether one of the two could not be decided: no answer about such a pair is counted."""
        return self.breaks is None or self.breaks_source is None


def truths(path: Path = TRUTH) -> dict[str, Truth]:
    """The truth by package; ``KeyError`` where a cell is none of its words."""
    with path.open(newline="") as table:
        return {
            row["package"]: Truth(WORDS[row["break"]], WORDS[row["source_break"]], row["reason"])
            for row in csv.DictReader(table)
        }


def causes(path: Path = CAUSES) -> dict[str, str]:
    """What led to the wrong answers, by package."""
    with path.open(newline="") as table:
        return {row["package"]: row["why"] for row in csv.DictReader(table)}
