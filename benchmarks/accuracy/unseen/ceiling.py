"""How right an answer can be: what stands in headers only, no reader of files can know, and some stands nowhere."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from abistore.model.words.counting import counted
from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import FOLDER, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, key

CAUSES = FOLDER / "causes.csv"
"""Why abistore is wrong on a pair, in words that name no library: library, old, new, evidence, only_told_by, cause.

``only_told_by`` is empty where better judging of what was read could be right, and else one of :data:`SOURCES`.
"""

SOURCES: Final = {
    "files": frozenset({"headers"}),
    "headers": frozenset({"nothing", "bodies", "comments"}),
}
"""What alone tells the truth about a pair, beside the evidence that was read.

``headers``: the file would be the same, byte for byte, were the truth the other: which headers are installed, what a
macro stands for, how a library without debug information lays out a type. ``nothing``: so would files and headers be,
as the truth holds something of programs. ``bodies``: declarations, layouts and tables would be the same; the library's
machine code tells, such as whether it calls a function of an object. ``comments``: so would they, and a comment tells.
"""


def causes(path: Path = CAUSES) -> dict[Key, str]:
    """The general cause of each wrong answer, as far as it is known."""
    return {place: row["cause"] for place, row in _rows(path)}


def only_told_by(*sources: str, path: Path = CAUSES) -> frozenset[Key]:
    """The wrong answers that only one of these ``sources`` could have set right."""
    return frozenset(place for place, row in _rows(path) if row["only_told_by"] in sources)


def _rows(path: Path) -> Iterator[tuple[Key, Mapping[str, str]]]:
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            yield (row["library"], row["old"], row["new"], "abistore", row["evidence"]), row


class Bound(NamedTuple):
    """What a judge reaches that errs on some pairs alone: its false alarms, what it misses and finds of the breaks."""

    asked: int
    wrong: int
    false: int
    missed: int
    breaking: int

    @property
    def errors(self) -> str:
        """``2 false alarms and 1 missed break``."""
        return f"{counted(self.false, 'false alarm')} and {counted(self.missed, 'missed break')}"

    @property
    def spelled(self) -> str:
        """Precision and recall."""
        hit = self.breaking - self.missed
        return f"precision {hit / (hit + self.false):.2f}, recall {hit / self.breaking:.2f}"


def bound(pairs: Sequence[UnseenPair], found: Mapping[Key, Said], evidence: str, beyond: frozenset[Key]) -> Bound:
    """The best that can be reached of the pairs that were judged by this ``evidence``."""
    asked = [pair for pair in pairs if key(pair, "abistore", evidence) in found]
    wrong = [pair for pair in asked if key(pair, "abistore", evidence) in beyond]
    breaking, missed = sum(pair.breaks for pair in asked), sum(pair.breaks for pair in wrong)
    return Bound(len(asked), len(wrong), len(wrong) - missed, missed, breaking)


def told(pairs: Sequence[UnseenPair], found: Mapping[Key, Said], beyond: frozenset[Key]) -> Iterator[str]:
    """What a judge of files would reach that errs only where headers alone have the answer."""
    best = bound(pairs, found, "files", beyond)
    yield "## What no reader of the files can tell\n"
    yield f"Of {best.asked} pairs that were judged from the files, {best.wrong} have an answer in their headers alone:"
    yield "the file would be the same, byte for byte, were the truth the other. It is the same whether a header that"
    yield "declares an export is installed or not, whatever a macro stands for, and however a library without debug"
    yield "information lays out a type. Right about all other pairs, and judging these as it does today, abistore would"
    yield f"have {best.errors}:"
    yield f"**{best.spelled}** at best."
    yield "The goals without headers were 0.80 and 0.97. Silence where exports go whose headers nobody showed would"
    yield 'miss more breaks than it spares alarms ("What a milder verdict would cost", above): give the headers.\n'


def told_with_headers(
    pairs: Sequence[UnseenPair], found: Mapping[Key, Said], nowhere: frozenset[Key], unread: frozenset[Key]
) -> Iterator[str]:
    """What a judge of headers and files would reach that errs only where neither has the answer, or no declaration."""
    best, declared = (bound(pairs, found, "headers", each) for each in (nowhere, nowhere | unread))
    yield "## What headers and files together do not tell\n"
    yield f"Of {best.asked} pairs that were judged with headers, {best.wrong} cannot be told by what was given:"
    yield "headers and files would be the same, byte for byte, were the truth the other, as it holds something of"
    yield "programs (with which compiler they are built). Right about all other pairs, a judge would have"
    yield f"{best.errors}: **{best.spelled}** at best."
    yield f"Of {declared.wrong - best.wrong} more, all declarations, layouts and tables would be the same too. What"
    yield "tells is the machine code of a function's body (whether the library calls what a program implements, returns"
    yield "a value, or makes an object itself), or a comment that asks people to leave something alone. abistore judges"
    yield "by neither. Right about all others, and judging these as it did, it would have"
    yield f"{declared.errors}: **{declared.spelled}** at best."
    yield "The goals with headers were 0.95 and 1.00.\n"
