"""What abistore says of the kept pairs, and how that is kept: ``tests/pairs/answers.csv``.

Each pair is asked twice: with the snapshots as they are (``headers``), and without what headers tell (``files``).
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Comparison, Finding, with_consequences
from abistore.model.snapshot import Snapshot
from abistore.model.structure import without_cycle_collection
from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.kept.archives import FOLDER
from benchmarks.accuracy.unseen import UnseenPair
from benchmarks.accuracy.unseen import pairs as judged_pairs

ANSWERS: Final = FOLDER / "answers.csv"
EVIDENCE: Final = ("headers", "files")
COLUMNS: Final = ("library", "old", "new", "evidence", "verdict", "digest", "findings", "kinds")


class Place(NamedTuple):
    """A pair, and the evidence that it was asked with."""

    library: str
    old: str
    new: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.library} {self.old} -> {self.new}, {self.evidence}"


class Answer(NamedTuple):
    """The verdict on a pair, a digest of its findings, how many these are, and how many there are of each kind."""

    verdict: str
    digest: str
    findings: int
    kinds: str


def answers(pairs: Iterable[KeptPair], asked: Sequence[str] = EVIDENCE) -> Iterator[tuple[Place, Answer]]:
    """What abistore says of pairs now, with the evidence ``asked`` for."""
    for _, some in groupby(pairs, key=lambda kept: kept.pair.library):
        with without_cycle_collection():  # a collection after each pair would cost a third more
            yield from [_asked(kept, evidence) for kept in some for evidence in asked]


def _asked(kept: KeptPair, evidence: str) -> tuple[Place, Answer]:
    place = Place(kept.pair.library, kept.pair.old, kept.pair.new, evidence)
    return place, _answer(compare(seen(kept.old, evidence), seen(kept.new, evidence)))


def seen(snapshot: Snapshot, evidence: str) -> Snapshot:
    """A snapshot with headers, or as one that is read without them."""
    if evidence == "headers":
        return snapshot
    return msgspec.structs.replace(
        snapshot,
        entries={facet: entries for facet, entries in snapshot.entries.items() if facet != "source"},
        evidence=tuple(each for each in snapshot.evidence if each.facet != "source"),
        provenance=msgspec.structs.replace(snapshot.provenance, headers=msgspec.UNSET),
    )


def _answer(comparison: Comparison) -> Answer:
    counted = Counter(finding.kind for finding in comparison.findings)
    kinds = "; ".join(f"{kind} {number}" for kind, number in sorted(counted.items()))
    return Answer(str(comparison.verdict), digest(comparison.findings), len(comparison.findings), kinds)


def digest(findings: Iterable[Finding]) -> str:
    """A digest of what findings and their consequences say, however it is worded and wherever it is declared."""
    facts = [
        (each.kind, each.name, each.part, each.impact, each.old_value, each.new_value, each.affected)
        for each in with_consequences(findings)
    ]
    return blake2b(msgspec.json.encode(facts), digest_size=8).hexdigest()


def read(path: Path = ANSWERS) -> dict[Place, Answer]:
    """The answers as they were kept; none where there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as table:
        return {
            Place(*(row[name] for name in COLUMNS[:4])): Answer(
                row["verdict"], row["digest"], int(row["findings"]), row["kinds"]
            )
            for row in csv.DictReader(table)
        }


def write(found: Mapping[Place, Answer], path: Path = ANSWERS) -> None:
    """Keep answers, in their order."""
    with path.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(COLUMNS)
        written.writerows((*place, *answer) for place, answer in found.items())


def answered(found: Mapping[Place, Answer]) -> list[UnseenPair]:
    """The judged pairs of which there is an answer, in the order of the truth."""
    known = {place[:3] for place in found}
    return [pair for pair in judged_pairs() if (pair.library, pair.old, pair.new) in known]


def differences(then: Mapping[Place, Answer], now: Mapping[Place, Answer]) -> list[str]:
    """A line for each pair of which something else is said, with what that is."""
    places = [place for place in {**then, **now} if then.get(place) != now.get(place)]
    return [_differs(place, then.get(place), now.get(place)) for place in places]


def _differs(place: Place, then: Answer | None, now: Answer | None) -> str:
    if then is None or now is None:
        return f"{place}: {'no answer was kept' if then is None else 'no longer a kept pair'}"
    if then.verdict != now.verdict:
        return f"{place}: {then.verdict} -> {now.verdict} ({_moved(then, now)})"
    return f"{place}: {then.verdict}, {_moved(then, now)}"


def _moved(then: Answer, now: Answer) -> str:
    """Which kinds are found more or less often."""
    before, after = (dict(each.rsplit(" ", 1) for each in said.kinds.split("; ") if each) for said in (then, now))
    moved = [
        f"{kind} {before.get(kind, 0)} -> {after.get(kind, 0)}"
        for kind in sorted(before | after)
        if before.get(kind) != after.get(kind)
    ]
    return ", ".join(moved) or "other values of the same kinds"
