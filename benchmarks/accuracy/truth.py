"""The pairs of releases, and what was found out about each by reading and by running clients."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("truth.csv")


@dataclass(frozen=True)
class Pair:
    """Two consecutive releases; whether clients of the old one break with the new one, and why or why not."""

    library: str
    old: str
    new: str
    breaks: bool
    reason: str


def pairs() -> list[Pair]:
    """All rows of the table, in order."""
    with TABLE.open(newline="") as table:
        return [
            Pair(row["library"], row["old"], row["new"], row["break"] == "yes", row["reason"])
            for row in csv.DictReader(table)
        ]
