"""The table of pairs of Debian library packages, chosen by a rule that knows nothing of what they contain.

``pairs.csv`` has one row for each pair: the source and library package, the two suites and versions, the development
packages, and the language. :mod:`.choosing` states the rule, :mod:`.obtaining` what lies in the folder of packages.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).with_name("pairs.csv")


@dataclass(frozen=True, slots=True)
class DebianPair:
    """Two versions of a library package. The packages in ``devel`` are built from the same source."""

    source: str
    package: str
    old_suite: str
    new_suite: str
    old: str
    new: str
    devel: tuple[str, ...]
    language: str

    def __str__(self) -> str:
        return f"{self.package} {self.old} -> {self.new}"


COLUMNS: Final = tuple(field.name for field in fields(DebianPair))


def pairs(path: Path = TABLE) -> Iterator[DebianPair]:
    """All pairs, in the order in which they were chosen."""
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            yield DebianPair(**{**row, "devel": tuple(row["devel"].split())})  # type: ignore[arg-type]


def write(chosen: Iterable[DebianPair], path: Path = TABLE) -> None:
    """Write the table, in the order given."""
    with path.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(COLUMNS)
        for pair in chosen:
            cells = (getattr(pair, column) for column in COLUMNS)
            written.writerow(" ".join(cell) if isinstance(cell, tuple) else cell for cell in cells)
