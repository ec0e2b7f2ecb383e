"""The table of judged release pairs that no rule was made with, and the recipes of their libraries.

``pairs.csv`` has one row for each pair of consecutive releases: whether a program breaks that was built with the old
release's headers (``break``), whether one still compiles with the new headers (``source_break``), what each tool
answered when the part of the pair was judged, and the reason for the truth. ``recipes.toml`` says how the releases of
each library are obtained and built.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.accuracy.asking import TOOLS, is_break

TABLE = Path(__file__).with_name("pairs.csv")
RECIPES = Path(__file__).with_name("recipes.toml")

COLUMNS = ("library", "part", "old", "new", "break", "source_break", "same_soname", "stripped")
"""The columns of ``pairs.csv`` before those of the tools; ``reason`` is the last."""

WORDS: Final[Mapping[bool | None, str]] = {True: "yes", False: "no", None: ""}


class Part(NamedTuple):
    """Pairs that were judged together, and the day; causes of wrong answers were looked for in a part without one."""

    name: str
    judged: str | None


PARTS: Final = {
    name: Part(name, judged)
    for name, judged in (
        ("open", None),
        ("kept", "2026-11-23"),
        ("later", "2026-11-23"),
        ("last", "2026-11-24"),
        ("fresh", "2026-11-24"),
        ("sixth", "2026-11-25"),
        ("seventh", "2026-11-26"),
        ("eighth", "2026-11-26"),
        ("ninth", "2026-11-26"),
        ("tenth", "2026-11-26"),
        ("eleventh", "2026-11-27"),
        ("twelfth", "2026-11-27"),
        ("thirteenth", "2026-11-27"),
        ("fourteenth", "2026-11-27"),
        ("fifteenth", "2026-11-27"),
        ("sixteenth", "2026-11-28"),
        ("seventeenth", "2026-11-28"),
    )
}
"""All parts by name, in order. The libraries of each were chosen when all parts before it had been judged."""


@dataclass(frozen=True, slots=True)
class UnseenPair:
    """Two consecutive releases of a library, the truth about them, and what the tools answered.

    ``same_soname`` and ``stripped`` are ``None`` where no tool was asked.
    """

    library: str
    old: str
    new: str
    breaks: bool
    breaks_source: bool
    reason: str
    part: Part
    same_soname: bool | None = None
    stripped: bool | None = None
    words: Mapping[tuple[str, str], str] = field(default_factory=dict, hash=False)
    """What each tool answered from an evidence; a tool that was not asked has no entry."""

    def answer(self, tool: str, evidence: str) -> bool | None:
        """Whether a tool said that programs break; ``None`` where it failed. ``KeyError`` if it was not asked."""
        return is_break(tool, self.words[tool, evidence])

    def __str__(self) -> str:
        return f"{self.library} {self.old} -> {self.new}"


def libraries() -> list[str]:
    """All libraries, sorted."""
    return sorted(_recipes())


def recipe(library: str) -> dict[str, Any]:
    """How the releases of a library are obtained and what it installs; ``releases`` maps each to its package's."""
    read = _recipes()[library]
    releases = read["releases"]
    carriers = releases if isinstance(releases, dict) else {version: version for version in releases}
    return {"library": library, **read, "releases": carriers}


@cache
def _recipes() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(RECIPES.read_text())


def pairs(path: Path = TABLE) -> Iterator[UnseenPair]:
    """All pairs, library by library, oldest first."""
    truth = {word: value for value, word in WORDS.items()}
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            yield UnseenPair(
                *(row["library"], row["old"], row["new"]),
                breaks=row["break"] == "yes",
                breaks_source=row["source_break"] == "yes",
                reason=row["reason"],
                part=PARTS[row["part"]],
                same_soname=truth[row["same_soname"]],
                stripped=truth[row["stripped"]],
                words={tool: row[" ".join(tool)] for tool in TOOLS if row[" ".join(tool)]},
            )


def write(found: Iterable[UnseenPair], path: Path = TABLE) -> None:
    """Write the table of pairs, in the order given."""
    with path.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow([*COLUMNS, *map(" ".join, TOOLS), "reason"])
        for pair in found:
            known = (pair.breaks, pair.breaks_source, pair.same_soname, pair.stripped)
            answers = (pair.words.get(tool, "") for tool in TOOLS)
            names = (pair.library, pair.part.name, pair.old, pair.new)
            written.writerow([*names, *(WORDS[each] for each in known), *answers, pair.reason])
