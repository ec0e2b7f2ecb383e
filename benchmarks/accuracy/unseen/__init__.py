"""Release pairs that no rule was made with, and the truth about each; ``python -m benchmarks.accuracy.unseen``.

Each library has two files. ``LIBRARY.toml`` tells how its releases are obtained, and built where they are source.
``LIBRARY.csv`` has one row for each pair of consecutive releases: whether a program breaks that was built with the old
one's headers (``break``), whether one still compiles with the new one's (``source_break``), and why. Rows were written
from headers, sources and clients, and committed before any comparing tool saw a pair. All consecutive releases of the
stated range are there; none was chosen for its answer.

Pairs belong to parts (:class:`Part`): an open one, in which causes of wrong answers are looked for, and others that are
judged once each, when all rules are made.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


class Part(StrEnum):
    """What a pair serves for."""

    OPEN = "open"
    """Causes of wrong answers are looked for here."""

    KEPT = "kept"
    """Judged once. A digest of the pair's name decided, so that nobody did."""

    LATER = "later"
    """Of libraries chosen after that, and judged once: their recipes say ``part = "later"``."""

    LAST = "last"
    """Of libraries chosen when the later part had been judged, and judged once: ``part = "last"``."""

    FRESH = "fresh"
    """Of libraries chosen when the last part had been judged, and judged once: ``part = "fresh"``."""

    SIXTH = "sixth"
    """Of libraries chosen when the fresh part had been judged, and judged once: ``part = "sixth"``."""

    SEVENTH = "seventh"
    """Of libraries chosen when the sixth part had been judged, and judged once: ``part = "seventh"``."""

    EIGHTH = "eighth"
    """Of libraries chosen when the seventh part had been judged, and judged once: ``part = "eighth"``."""

    NINTH = "ninth"
    """Of libraries chosen when the eighth part had been judged, and judged once: ``part = "ninth"``."""

    TENTH = "tenth"
    """Of libraries chosen when the ninth part had been judged, and judged once: ``part = "tenth"``."""

    ELEVENTH = "eleventh"
    """Of libraries chosen when the tenth part had been judged, and judged once: ``part = "eleventh"``."""

    TWELFTH = "twelfth"
    """Of libraries chosen when the eleventh part had been judged, and judged once: ``part = "twelfth"``."""

    THIRTEENTH = "thirteenth"
    """Of libraries chosen when the twelfth part had been judged, and judged once: ``part = "thirteenth"``."""

    FOURTEENTH = "fourteenth"
    """Of libraries chosen when the thirteenth part had been judged, and judged once: ``part = "fourteenth"``."""

    FIFTEENTH = "fifteenth"
    """Of libraries chosen when the fourteenth part had been judged, and judged once: ``part = "fifteenth"``."""

    SIXTEENTH = "sixteenth"
    """Of libraries chosen when most of the fifteenth part had been judged, and judged once: ``part = "sixteenth"``."""

    SEVENTEENTH = "seventeenth"
    """Of libraries chosen when the sixteenth part had been judged, and judged once: ``part = "seventeenth"``."""


JUDGED = {
    Part.KEPT: "2026-11-23",
    Part.LATER: "2026-11-23",
    Part.LAST: "2026-11-24",
    Part.FRESH: "2026-11-24",
    Part.SIXTH: "2026-11-25",
    Part.SEVENTH: "2026-11-26",
    Part.EIGHTH: "2026-11-26",
    Part.NINTH: "2026-11-26",
    Part.TENTH: "2026-11-26",
    Part.ELEVENTH: "2026-11-27",
    Part.TWELFTH: "2026-11-27",
    Part.THIRTEENTH: "2026-11-27",
    Part.FOURTEENTH: "2026-11-27",
    Part.FIFTEENTH: "2026-11-27",
    Part.SIXTEENTH: "2026-11-28",
    Part.SEVENTEENTH: "2026-11-28",
}
"""The day on which abistore was asked about a part that is judged once; a part that is missing waits."""


@dataclass(frozen=True)
class UnseenPair:
    """Two consecutive releases of a library, and the truth about them."""

    library: str
    old: str
    new: str
    breaks: bool
    breaks_source: bool
    reason: str
    part: Part


def libraries() -> list[str]:
    """All libraries, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def recipe(library: str) -> dict[str, Any]:
    """How the releases of a library are obtained, and what it installs."""
    return tomllib.loads((FOLDER / f"{library}.toml").read_text())


def pairs() -> Iterator[UnseenPair]:
    """All pairs, library by library, oldest first."""
    for library in libraries():
        stated = recipe(library).get("part")
        with (FOLDER / f"{library}.csv").open(newline="") as table:
            for row in csv.DictReader(table):
                answers = (row["break"] == "yes", row["source_break"] == "yes")
                old, new = row["old"], row["new"]
                part = Part(stated) if stated else _half(library, old, new)
                yield UnseenPair(library, old, new, *answers, row["reason"], part)


def _half(library: str, old: str, new: str) -> Part:
    odd = blake2b(f"{library} {old} {new}".encode(), digest_size=1).digest()[0] % 2
    return Part.KEPT if odd else Part.OPEN
