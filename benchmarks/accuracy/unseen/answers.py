"""What the tools said, as files: a row for each pair, tool and evidence."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy.asking import TOOLS, Said
from benchmarks.accuracy.unseen import FOLDER, UnseenPair

ANSWERS = FOLDER / "answers.csv"
BEFORE = FOLDER / "before.csv"
"""What abistore said before it read headers, and before any mechanism was made that these pairs led to."""

BINARIES = FOLDER / "binaries.csv"
COLUMNS = ("library", "old", "new", "tool", "evidence", "word", "break", "causes")
BREAKS = {"yes": True, "no": False, "": None}

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Binaries:
    """What the libraries of a pair are: of one SONAME or of two, stripped or with debug information."""

    same_soname: bool
    stripped: bool


def key(pair: UnseenPair, tool: str, evidence: str) -> Key:
    """Where an answer stands."""
    return pair.library, pair.old, pair.new, tool, evidence


def answers(path: Path = ANSWERS) -> dict[Key, Said]:
    """All answers of a file."""
    if not path.exists():
        return {}
    with path.open(newline="") as table:
        return {
            (row["library"], row["old"], row["new"], row["tool"], row["evidence"]): Said(
                row["word"], BREAKS[row["break"]], tuple(row["causes"].split("; ")) if row["causes"] else ()
            )
            for row in csv.DictReader(table)
        }


def keep(found: Mapping[Key, Said], order: Iterable[UnseenPair], path: Path = ANSWERS) -> None:
    """Write answers, pairs in the order of the truth, tools in that of the tables."""
    words = {value: word for word, value in BREAKS.items()}
    with path.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(COLUMNS)
        for pair in order:
            for tool, evidence in TOOLS:
                said = found.get(key(pair, tool, evidence))
                if said:
                    causes = "; ".join(each.replace("; ", ", ") for each in said.causes)
                    written.writerow([*key(pair, tool, evidence), said.word, words[said.breaks], causes])


def binaries() -> dict[tuple[str, str, str], Binaries]:
    """What is known of the libraries of each pair."""
    if not BINARIES.exists():
        return {}
    with BINARIES.open(newline="") as table:
        return {
            (row["library"], row["old"], row["new"]): Binaries(row["same_soname"] == "yes", row["stripped"] == "yes")
            for row in csv.DictReader(table)
        }


def keep_binaries(found: Mapping[tuple[str, str, str], Binaries], order: Iterable[UnseenPair]) -> None:
    """Write what is known of the libraries of each pair."""
    with BINARIES.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(("library", "old", "new", "same_soname", "stripped"))
        for pair in order:
            told = found.get((pair.library, pair.old, pair.new))
            if told:
                words = ("yes" if each else "no" for each in (told.same_soname, told.stripped))
                written.writerow((pair.library, pair.old, pair.new, *words))


def counts(told: Sequence[tuple[bool, bool | None]]) -> str:
    """Alarms and misses of pairs of truth and answer (``None``: none was given), and what follows from them."""
    kinds = (True, True), (False, True), (True, False), (False, False)
    hit, false, missed, silent = (told.count(each) for each in kinds)
    unanswered = sum(answer is None for _, answer in told)
    precision, recall = rates(told)
    return f"{hit} | {false} | {missed} | {silent} | {unanswered} | {precision:.2f} | {recall:.2f}"


def rates(told: Sequence[tuple[bool, bool | None]]) -> tuple[float, float]:
    """Precision and recall of pairs of truth and answer: 0 where nothing was told, or nothing breaks."""
    hit, false = told.count((True, True)), told.count((False, True))
    return hit / max(hit + false, 1), hit / max(sum(truth for truth, _ in told), 1)
