"""The table of what abistore and abidiff answered about the pairs: ``answers.csv``.

Each question has a row for each engine that was asked, in the order of asking: the first answers are those of an engine
that knew nothing of the pairs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.accuracy.asking import STOPPING, is_break

ANSWERS: Final = Path(__file__).with_name("answers.csv")


class Question(NamedTuple):
    """A tool, and the evidence that it is given."""

    tool: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.tool}, {self.evidence}"


FILES: Final = Question("abistore", "files")
HEADERS: Final = Question("abistore", "headers")
ABISTORE: Final = (FILES, HEADERS)
QUESTIONS: Final = (*ABISTORE, Question("abidiff", "files"), Question("abidiff", "headers"))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered about a pair, and the processor seconds that it took.

    ``engine`` is that of abistore, or the release of abidiff. ``exit`` is the code of abistore's command, and behind it
    that of its error. ``old_source`` and ``new_source`` say how much its headers described, with the reason where that
    is not all; they are empty where the report says nothing. ``breaking`` counts the findings of a break, ``first`` has
    three of them, or of those that break sources.
    """

    package: str
    tool: str
    evidence: str
    engine: str
    word: str
    exit: str
    old_source: str
    new_source: str
    breaking: int
    first: str
    seconds: float

    @property
    def question(self) -> Question:
        """What was asked."""
        return Question(self.tool, self.evidence)

    @property
    def breaks(self) -> bool | None:
        """Whether the tool said that built programs break; ``None`` for no answer."""
        return is_break(self.tool, self.word)

    @property
    def stops(self) -> bool | None:
        """Whether a gate stops, at a break of sources too; ``None`` for no answer."""
        return None if self.breaks is None else self.breaks or self.word in STOPPING


COLUMNS: Final = tuple(field.name for field in fields(Answer))


def answers(path: Path = ANSWERS) -> Iterator[Answer]:
    """All answers, earliest first; none where nobody was asked."""
    if not path.exists():
        return
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            numbers = {"breaking": int(row["breaking"]), "seconds": float(row["seconds"])}
            yield Answer(**{**row, **numbers})  # type: ignore[arg-type]


def add(answer: Answer, path: Path = ANSWERS) -> None:
    """Write one more answer, so that a run that is stopped goes on behind it."""
    begun = path.exists()
    with path.open("a", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        if not begun:
            written.writerow(COLUMNS)
        written.writerow(astuple(answer))
