"""How right an answer from the files alone can be: what stands in headers only, no reader of files can know."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import FOLDER, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, key

CAUSES = FOLDER / "causes.csv"
"""Why abistore is wrong on a pair, in words that name no library: library, old, new, evidence, in_headers_only, cause.

``in_headers_only`` is ``yes`` where the file that was read would be the same, byte for byte, were the truth the other:
which headers are installed, what a macro stands for, how a library without debug information lays out a type.
"""


def causes(path: Path = CAUSES) -> dict[Key, str]:
    """The general cause of each wrong answer, as far as it is known."""
    return {place: row["cause"] for place, row in _rows(path)}


def in_headers_only(path: Path = CAUSES) -> frozenset[Key]:
    """The wrong answers from files that no evidence in the files could have set right."""
    return frozenset(place for place, row in _rows(path) if row["in_headers_only"])


def _rows(path: Path) -> Iterator[tuple[Key, Mapping[str, str]]]:
    with path.open(newline="") as table:
        for row in csv.DictReader(table):
            yield (row["library"], row["old"], row["new"], "abistore", row["evidence"]), row


def told(pairs: Sequence[UnseenPair], found: Mapping[Key, Said], beyond: frozenset[Key]) -> Iterator[str]:
    """What a judge of files would reach that errs only where headers alone have the answer."""
    asked = [pair for pair in pairs if key(pair, "abistore", "files") in found]
    wrong = [pair for pair in asked if key(pair, "abistore", "files") in beyond]
    breaking, missed = sum(pair.breaks for pair in asked), sum(pair.breaks for pair in wrong)
    false, hit = len(wrong) - missed, breaking - missed
    yield "## What no reader of the files can tell\n"
    yield f"Of {len(asked)} pairs that were judged from the files, {len(wrong)} have an answer in their headers alone:"
    yield "the file would be the same, byte for byte, were the truth the other. It is the same whether a header that"
    yield "declares an export is installed or not, whatever a macro stands for, and however a library without debug"
    yield "information lays out a type. Right about all other pairs, and judging these as it does today, abistore would"
    yield f"have {false} false alarms and {missed} missed breaks:"
    yield f"**precision {hit / (hit + false):.2f}, recall {hit / breaking:.2f}** at best."
    yield "The goals without headers were 0.80 and 0.97. Silence where exports go whose headers nobody showed would"
    yield 'miss more breaks than it spares alarms ("What a milder verdict would cost", above): give the headers.\n'
