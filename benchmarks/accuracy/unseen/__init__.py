"""Release pairs that no rule was made with, and the truth about each; ``python -m benchmarks.accuracy.unseen``.

Each library has two files. ``LIBRARY.toml`` tells how its releases are obtained, and built where they are source.
``LIBRARY.csv`` has one row for each pair of consecutive releases: whether a program breaks that was built with the old
one's headers (``break``), whether one still compiles with the new one's (``source_break``), and why. Rows were written
from headers, sources and clients, and committed before any comparing tool saw a pair. All consecutive releases of the
stated range are there; none was chosen for its answer.

Half of them are kept for the end, and judged once, when all rules are made: see :attr:`UnseenPair.kept`.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class UnseenPair:
    """Two consecutive releases of a library, and the truth about them."""

    library: str
    old: str
    new: str
    breaks: bool
    breaks_source: bool
    reason: str

    @property
    def kept(self) -> bool:
        """Whether the pair is kept for the end; a digest of its name decides, so that nobody does."""
        return blake2b(f"{self.library} {self.old} {self.new}".encode(), digest_size=1).digest()[0] % 2 == 1


def libraries() -> list[str]:
    """All libraries, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def recipe(library: str) -> dict[str, Any]:
    """How the releases of a library are obtained, and what it installs."""
    return tomllib.loads((FOLDER / f"{library}.toml").read_text())


def pairs() -> Iterator[UnseenPair]:
    """All pairs, library by library, oldest first."""
    for library in libraries():
        with (FOLDER / f"{library}.csv").open(newline="") as table:
            for row in csv.DictReader(table):
                answers = (row["break"] == "yes", row["source_break"] == "yes")
                yield UnseenPair(library, row["old"], row["new"], *answers, row["reason"])
