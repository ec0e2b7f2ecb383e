"""The pairs of releases, and what was found out about each by reading and by running clients."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from examples.independent_recipes import INDEPENDENT

TABLE = Path(__file__).with_name("truth.csv")

BEFORE = Path(__file__).with_name("before.csv")
"""What both tools said of the independent pairs when these had just been judged."""

JUDGED_FIRST = frozenset(recipe.library for recipe in INDEPENDENT)


@dataclass(frozen=True)
class Pair:
    """Two consecutive releases; whether clients of the old one break with the new one, and why or why not."""

    library: str
    old: str
    new: str
    breaks: bool
    reason: str

    @property
    def independent(self) -> bool:
        """Whether it was judged before any tool was run on it."""
        return self.library in JUDGED_FIRST


def pairs() -> list[Pair]:
    """All rows of the table, in order."""
    with TABLE.open(newline="") as table:
        return [
            Pair(row["library"], row["old"], row["new"], row["break"] == "yes", row["reason"])
            for row in csv.DictReader(table)
        ]
