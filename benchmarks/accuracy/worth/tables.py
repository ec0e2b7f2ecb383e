"""What trials add up to: a row for each replacement, and rows for many replacements at once."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.accuracy.asking import STOPPING
from benchmarks.accuracy.kept.answers import EVIDENCE
from benchmarks.accuracy.worth.subjects import Constant, Replacement, Sort, Subject, replacements
from benchmarks.accuracy.worth.trials import FAILED, Answer, LibraryTrial, PairTrial


class Worth(NamedTuple):
    """A constant in the place of one subject, counted in pairs that were compared by one evidence.

    ``ran``: it was asked. ``varied``: a predicate gave both answers. ``differed``: it gave an answer that the constant
    does not give. ``findings``: the findings change, and ``verdicts`` the verdict does. ``gained`` and ``lost`` are
    right answers that appear and disappear, to whether programs break (``breaking``), and to whether programs or
    sources break (``gate``). ``fails``: the comparison raises, does not end or ends the process.
    """

    subject: Sort
    name: str
    constant: Constant
    evidence: str
    ran: int
    varied: int
    differed: int
    findings: int
    verdicts: int
    breaking_gained: int
    breaking_lost: int
    gate_gained: int
    gate_lost: int
    fails: int

    @property
    def net(self) -> int:
        """Right answers gained less those lost, of both questions; a failure loses both."""
        gained = self.breaking_gained + self.gate_gained
        return gained - self.breaking_lost - self.gate_lost - 2 * self.fails


class Together(NamedTuple):
    """All replacements of one sort at once, on half of the libraries; the other half chose them."""

    chosen: str
    half: int
    evidence: str
    predicates: int
    pairs: int
    findings: int
    verdicts: int
    breaking_wrong_before: int
    breaking_wrong_after: int
    gate_wrong_before: int
    gate_wrong_after: int
    fails: int


class Right(NamedTuple):
    """Whether an answer is right about programs, and about programs and sources."""

    breaking: bool
    gate: bool


def right(pair: PairTrial, answer: Answer) -> Right:
    """An answer against the truth of its pair."""
    stops = pair.breaks or pair.breaks_source
    return Right((answer.verdict == "BREAKING") == pair.breaks, (answer.verdict in STOPPING) == stops)


def worths(trials: Sequence[LibraryTrial], subjects: Iterable[Subject]) -> list[Worth]:
    """A row for each replacement and evidence, sorted."""
    pairs = {evidence: [pair for pair in _pairs(trials) if pair.evidence == evidence] for evidence in EVIDENCE}
    return sorted(_worth(told, evidence, each) for each in replacements(subjects) for evidence, told in pairs.items())


def _pairs(trials: Iterable[LibraryTrial]) -> Iterator[PairTrial]:
    return (pair for trial in trials for pair in trial.pairs)


def _worth(pairs: Sequence[PairTrial], evidence: str, by: Replacement) -> Worth:
    name = by.subject.name
    ran = [pair for pair in pairs if name in pair.ran]
    changed = [(pair, pair.changed[by.key]) for pair in ran if by.key in pair.changed]
    answered = [(pair, answer) for pair, answer in changed if answer != FAILED]
    turned = [(right(pair, pair.answer), right(pair, answer)) for pair, answer in answered]
    return Worth(
        subject=by.subject.sort,
        name=name,
        constant=by.constant,
        evidence=evidence,
        ran=len(ran),
        varied=sum(pair.ran[name] == "no yes" for pair in ran),
        differed=sum(by.differs(pair.ran) for pair in ran),
        findings=len(answered),
        verdicts=sum(answer.verdict != pair.answer.verdict for pair, answer in answered),
        breaking_gained=sum(new.breaking > old.breaking for old, new in turned),
        breaking_lost=sum(new.breaking < old.breaking for old, new in turned),
        gate_gained=sum(new.gate > old.gate for old, new in turned),
        gate_lost=sum(new.gate < old.gate for old, new in turned),
        fails=len(changed) - len(answered),
    )


class Class(StrEnum):
    """What a subject is worth, by the best constant in its place."""

    NEVER_RAN = "never ran"
    ONE_ANSWER = "always gave the same answer (a kind: found nothing)"
    NO_FINDING = "changes no finding"
    NO_VERDICT = "changes findings, no verdict"
    NEITHER = "changes verdicts, as many for the better as for the worse"
    HURTS = "hurts: right answers appear without it"
    HELPS = "helps: right answers disappear without it"


def added(rows: Iterable[Worth]) -> Worth:
    """The rows of one replacement as one: what it does by each evidence, together."""
    told = list(rows)
    counts = (sum(column) for column in zip(*(row[4:] for row in told), strict=True))
    return Worth(*told[0][:3], " and ".join(row.evidence for row in told), *counts)


def best(rows: Iterable[Worth]) -> Worth:
    """The constant that was always the answer, or else costs the fewest right answers, then verdicts and findings."""
    return max(rows, key=lambda row: (not row.differed, row.net, -row.verdicts, -row.findings, row.constant))


def classes(rows: Iterable[Worth]) -> dict[Worth, Class]:
    """The best constant of each subject, and what that says of the subject."""
    by_constant = [added(found) for _, found in groupby(sorted(rows), lambda row: row[:3])]
    by_subject = groupby(by_constant, lambda row: row[:2])
    return {(chosen := best(found)): _class(chosen) for _, found in by_subject}


def _class(row: Worth) -> Class:
    if not row.ran:
        return Class.NEVER_RAN
    if not row.differed:
        return Class.ONE_ANSWER
    if row.net:
        return Class.HURTS if row.net > 0 else Class.HELPS
    if row.verdicts:
        return Class.NEITHER
    return Class.NO_VERDICT if row.findings else Class.NO_FINDING


STEPS: Final[Mapping[str, frozenset[Class]]] = {
    "never ran": frozenset({Class.NEVER_RAN}),
    "always the same answer": frozenset({Class.NEVER_RAN, Class.ONE_ANSWER}),
    "no finding changed": frozenset({Class.NEVER_RAN, Class.ONE_ANSWER, Class.NO_FINDING}),
    "no verdict changed": frozenset({Class.NEVER_RAN, Class.ONE_ANSWER, Class.NO_FINDING, Class.NO_VERDICT}),
}
"""Which predicates are replaced at once, each step with those of the step above."""


def half(library: str) -> int:
    """Which half of the libraries it belongs to, by a digest of its name."""
    return blake2b(library.encode(), digest_size=1).digest()[0] % 2


def chosen(trials: Iterable[LibraryTrial], predicates: Sequence[Subject], step: str) -> list[Replacement]:
    """The replacements that these trials would allow."""
    found = classes(worths(list(trials), predicates))
    allowed = {(row.name, row.constant) for row, each in found.items() if each in STEPS[step]}
    return [each for each in replacements(predicates) if (each.subject.name, each.constant) in allowed]


def together(
    step: str, half: int, by: Sequence[Replacement], answers: Sequence[tuple[PairTrial, Answer]]
) -> Iterator[Together]:
    """The rows of a step: how the pairs of one half are answered with these replacements, by each evidence."""
    for evidence in EVIDENCE:
        told = [(pair, answer) for pair, answer in answers if pair.evidence == evidence]
        yield _together(Together(step, half, evidence, len(by), len(told), *[0] * 7), told)


def _together(row: Together, answers: Sequence[tuple[PairTrial, Answer]]) -> Together:
    """The row with what is counted of its pairs."""
    answered = [(pair, answer) for pair, answer in answers if answer != FAILED]
    before = [right(pair, pair.answer) for pair, _ in answers]
    after = [right(*each) for each in answered]
    return row._replace(
        findings=sum(answer != pair.answer for pair, answer in answered),
        verdicts=sum(answer.verdict != pair.answer.verdict for pair, answer in answered),
        breaking_wrong_before=sum(not each.breaking for each in before),
        breaking_wrong_after=sum(not each.breaking for each in after),
        gate_wrong_before=sum(not each.gate for each in before),
        gate_wrong_after=sum(not each.gate for each in after),
        fails=len(answers) - len(answered),
    )


def write(path: Path, columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a table."""
    with path.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(columns)
        written.writerows(rows)
