"""How many special cases help, on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from benchmarks.accuracy.kept.answers import EVIDENCE
from benchmarks.accuracy.worth.subjects import Sort
from benchmarks.accuracy.worth.tables import STEPS, Class, Together, Worth, classes

MOST: Final = 8
"""So many subjects are listed of those that matter most."""


def page(worths: Sequence[Worth], together: Sequence[Together]) -> Iterator[str]:
    """The lines of the page, from the two tables."""
    found = classes(worths)
    pairs = sum(row.pairs for row in together if (row.chosen, row.evidence) == (next(iter(STEPS)), EVIDENCE[0]))
    yield "# What special cases are worth\n"
    yield "Each yes/no predicate of the judging was replaced by *never* and by *always*, each kind of change by"
    yield f"*never*, and {pairs} release pairs with known truth were compared again, with headers and by their files"
    yield "alone. A subject counts by the better of its constants: right answers gained less those lost, where"
    yield "`BREAKING` and the gate (`BREAKING` or `API_BREAK`) are one answer each.\n"
    yield from summary(worths)
    yield "\n## All at once\n"
    yield "Half of the libraries (by a digest of the name) chose the predicates to replace, and the pairs of the other"
    yield "half were compared with all of them replaced at once; then the halves were exchanged. Each step includes"
    yield "those above.\n"
    yield from steps(together)
    yield "\n## Those that decide most\n"
    yield "In brackets: the better constant, and the right answers gained by it, less those lost.\n"
    for sort in get_args(Sort):
        for told, word in ((Class.HELPS, "help"), (Class.HURTS, "hurt")):
            rows = [row for row in found if row.subject == sort and found[row] is told]
            yield f"- {sort}s that {word}, {len(rows)}: {_listed(rows)}"
    yield "\nRules were made with some of these pairs, and few pairs decide about most subjects: one that helps here"
    yield "may not help elsewhere, and one that changes nothing here may.\n"
    yield "`python -m benchmarks.accuracy.worth --show NAME` lists the pairs whose verdict a subject decides."


def summary(worths: Sequence[Worth]) -> Iterator[str]:
    """How many predicates and kinds are of each class, by headers, by files, and by both together."""
    rows = [worths, *([row for row in worths if row.evidence == evidence] for evidence in EVIDENCE)]
    counts = [Counter((row.subject, told) for row, told in classes(each).items()) for each in rows]
    names = ["both", *EVIDENCE]
    yield f"| without it | {' | '.join(f'{sort}s, {name}' for sort in get_args(Sort) for name in names)} |"
    yield "|---|" + "---:|" * 2 * len(names)
    for told in Class:
        yield f"| {told} | {' | '.join(str(each[sort, told]) for sort in get_args(Sort) for each in counts)} |"


def steps(together: Sequence[Together]) -> Iterator[str]:
    """A row for each step and evidence, both halves added."""
    yield "| replaced | predicates | evidence | findings differ | verdicts | BREAKING wrong | gate wrong | fail |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|"
    for step in STEPS:
        for evidence in EVIDENCE:
            yield _step([row for row in together if (row.chosen, row.evidence) == (step, evidence)])


def _step(rows: Sequence[Together]) -> str:
    cells = [
        rows[0].chosen,
        " and ".join(str(row.predicates) for row in rows),
        rows[0].evidence,
        f"{sum(row.findings for row in rows)} of {sum(row.pairs for row in rows)}",
        str(sum(row.verdicts for row in rows)),
        f"{sum(row.breaking_wrong_before for row in rows)} -> {sum(row.breaking_wrong_after for row in rows)}",
        f"{sum(row.gate_wrong_before for row in rows)} -> {sum(row.gate_wrong_after for row in rows)}",
        str(sum(row.fails for row in rows)),
    ]
    return f"| {' | '.join(cells)} |"


def _listed(rows: Sequence[Worth]) -> str:
    """The subjects that decide about most right answers, each with those gained without it."""
    chosen = sorted(rows, key=lambda row: (-abs(row.net), row))[:MOST]
    names = [f"`{row.name.removeprefix('abistore.compare.')}` ({row.constant}: {row.net:+})" for row in chosen]
    return ", ".join([*names, "..."] if len(rows) > MOST else names) or "none"
