"""What each hint of ``abistore/model/hints.toml`` gains: the kept pairs compared without it.

::

    python -m benchmarks.accuracy.hints --applies           # in how many libraries each applies to a text
    python -m benchmarks.accuracy.hints [LIBRARY ...]

A row for each hint: in how many libraries it applies, in how many a finding differs without it, and the right answers
that it gains and loses, where ``BREAKING`` and the gate are one answer each.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from abistore.model import hints
from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.kept.answers import EVIDENCE
from benchmarks.accuracy.worth.__main__ import by_evidence
from benchmarks.accuracy.worth.subjects import import_engine
from benchmarks.accuracy.worth.trials import Answer, Asked, apart, judge


class Worth(NamedTuple):
    """What one hint does in one library."""

    library: str
    effect: str
    findings: int
    gained: int
    lost: int


def worths(libraries: Collection[str] | None = None) -> Iterator[Worth]:
    """A row for each hint that applies in a library: findings are counted by pair and evidence."""
    for asked in _by_library(libraries):
        plain, applied = _plain([each.kept for each in asked])
        for effect in sorted(applied):
            yield _worth(effect, asked, plain)


def applies() -> Mapping[str, int]:
    """The number of libraries in which each hint applies to something."""
    counts = dict.fromkeys(hints.hints(), 0)
    for asked in _by_library(None):
        for effect in _plain([each.kept for each in asked])[1]:
            counts[effect] += 1
    return counts


def _by_library(libraries: Collection[str] | None) -> Iterator[Sequence[Asked]]:
    for _, found in groupby(kept.pairs(libraries), lambda each: each.pair.library):
        yield [by_evidence(each, evidence) for each in found for evidence in EVIDENCE]


def _plain(pairs: Sequence[KeptPair]) -> tuple[Sequence[Answer], Collection[str]]:
    """The answers about pairs with all hints, and the hints that apply to something in one of them."""
    applied = set[str]()

    def watched(effect: str) -> hints.Test:
        test = hints.test_of(effect)

        def watching(text: str) -> re.Match[str] | bool | None:
            fits = test(text)
            if fits:
                applied.add(effect)
            return fits

        return watching

    def watch() -> None:
        for effect in hints.hints():
            hints.replace_test(effect, watched(effect))

    results = list(apart(pairs, lambda pair: (judge(pair), frozenset(applied)), watch))
    known = [each for each in results if each is not None]
    assert len(known) == len(pairs)
    return [answer for answer, _ in known], known[-1][1]


def _worth(effect: str, asked: Sequence[Asked], plain: Sequence[Answer]) -> Worth:
    answers = apart([each.kept for each in asked], judge, _without(effect))
    gained = lost = findings = 0
    for each, with_it, without in zip(asked, plain, answers, strict=True):
        assert without is not None
        findings += with_it.findings != without.findings
        right = _right(each, with_it) - _right(each, without)
        gained, lost = gained + max(right, 0), lost - min(right, 0)
    return Worth(asked[0].kept.pair.library, effect, findings, gained, lost)


def _without(effect: str) -> Callable[[], None]:
    return lambda: hints.replace_test(effect, lambda _: None)


def _right(asked: Asked, answer: Answer) -> int:
    """How many of two answers are right: whether programs break, and whether programs or sources do."""
    truth = asked.kept.pair
    breaks, stops = answer.verdict == "BREAKING", answer.verdict in ("BREAKING", "API_BREAK")
    return (breaks == truth.breaks) + (stops == (truth.breaks or truth.breaks_source))


def main() -> None:
    """Print a row for each hint and library at once, then the sums by hint."""
    import_engine()
    if sys.argv[1:] == ["--applies"]:
        for effect, count in applies().items():
            print(f"{effect} {count}")
        return
    rows = list[Worth]()
    for row in worths(sys.argv[1:] or None):
        rows.append(row)
        print(*row, flush=True)
    for effect in hints.hints():
        own = [row for row in rows if row.effect == effect]
        differing, gained, lost = (sum(map(bool, (row.findings for row in own))), *_sums(own))
        print(f"{effect}: applies in {len(own)} libraries, findings differ in {differing}, right {gained} - {lost}")


def _sums(rows: Sequence[Worth]) -> tuple[int, int]:
    return sum(row.gained for row in rows), sum(row.lost for row in rows)


if __name__ == "__main__":
    main()
