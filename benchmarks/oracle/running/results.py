"""The results of a run, a line for each seed, and how each answer compares with the truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.oracle.running.operators import OPERATORS

ORDER: Final = ("NO_CHANGE", "COMPATIBLE", "COMPATIBLE_WITH_RISK", "API_BREAK", "BREAKING")


class Result(msgspec.Struct, frozen=True):
    """What one edit does, and what is said of it."""

    seed: int
    digest: str
    refused: list[str]
    engine: str
    library: str
    operators: list[str]
    subjects: list[str]
    title: str
    truth: str
    shown: str
    answers: dict[str, dict[str, Any]]
    abidiff: dict[str, int]
    seconds: float

    @property
    def unshown(self) -> str:
        """Why programs that run alike prove nothing, if so."""
        return next((OPERATORS[each].unshown for each in self.operators if OPERATORS[each].unshown), "")

    def verdict(self, mode: str) -> str:
        """What abistore says in a mode."""
        return str(self.answers[mode]["verdict"])

    def word(self, mode: str) -> str:
        """How an answer of abistore compares with the truth."""
        return judged(self.truth, self.verdict(mode), unshown=bool(self.unshown))

    def word_of_abidiff(self, mode: str) -> str:
        """The same of abidiff, which knows two answers: bit 8 is a break."""
        code = self.abidiff[mode]
        said = "BREAKING" if code & 8 else "COMPATIBLE_WITH_RISK" if code & 4 else "NO_CHANGE"
        return judged(self.truth, said, unshown=bool(self.unshown))


def judged(truth: str, verdict: str, *, unshown: bool = False) -> str:
    """``true``, ``missed``, ``milder``, ``source missed``, ``overstated``, ``false``, or ``not shown``.

    A break that exits with 0 is ``missed``, one that is called a source break is ``milder``; a source break that is
    called a break is ``overstated``. Where programs built anew only mean something else, it is enough to be told of
    the change. ``unshown`` edits may break programs that these are not.
    """
    if truth == "BREAKING":
        return "true" if verdict in ("BREAKING", "REFUSED") else "milder" if verdict == "API_BREAK" else "missed"
    if verdict in ("BREAKING", "REFUSED"):
        return "not shown" if unshown else "false" if truth == "HARMLESS" else "overstated"
    if truth == "HARMLESS":
        return "false" if verdict == "API_BREAK" and not unshown else "true"
    if truth == "API_BREAK":
        return "true" if verdict == "API_BREAK" else "source missed"
    return "source missed" if verdict == "NO_CHANGE" else "true"


def read(path: Path) -> list[Result]:
    """The results of a file, by seed. A line that was cut off when the run was interrupted is left out."""
    found = {}
    for line in path.read_bytes().splitlines():
        try:
            each = msgspec.json.decode(line, type=Result)
        except msgspec.DecodeError:
            continue
        found[each.seed] = each
    return [found[seed] for seed in sorted(found)]


def unlike(result: Result) -> Iterator[str]:
    """A line for each answer that is not the truth."""
    for mode in result.answers:
        word = result.word(mode)
        if word not in ("true", "not shown") and not (word == "source missed" and mode == "files"):
            answer = result.answers[mode]
            said = "; ".join(answer["kinds"][:3]) or "nothing"
            place = f"{word:13} {mode:8} seed {result.seed}  {result.title}"
            yield f"{place}  [{result.truth}: {result.shown[:120]}]  {answer['verdict']}: {said}"
