"""Types without a finding in cases that stay silent: programs have the same of them compiled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from abistore.model.declarations import Name
from abistore.model.names.qualified import demangle
from abistore.model.shapes import AnyShape, Enum, Record
from abistore.model.structure import embedded
from abistore.report.model import Report, ReportedFinding
from abistore.service.judging import judge
from abistore.witness.making import Maker
from benchmarks.witness import sources
from examples.obtain import Missing
from tests.cases import RULES, Case, cases

EVERY = 60
"""So far apart are the cases that are asked before the night."""

SILENT = [
    case
    for path in sorted(RULES.glob("*.md"))
    for case in cases(path)
    if case.silent and not case.is_release and not case.is_drawn
]

ALLOCATES = re.compile(r"(.+)::operator (?:new|delete)\b")


def asked(name: Name, facet: str) -> ReportedFinding:
    """What a finding about a type would ask."""
    return ReportedFinding(
        id="asked",
        place="asked",
        kind="type_size_changed",
        symbol=name.spelling,
        display=name.spelling,
        part="",
        subject=name.kind,
        description="",
        impact="breaking",
        facet="layout" if facet == "layout" else "source",
        old_value=None,
        new_value=None,
        source_location=None,
        affected=(),
        affected_count=0,
        consequences=(),
    )


def reported(report: Report) -> set[str]:
    """The declarations of findings, and the classes that they give another ``operator new`` or ``delete``."""
    found = {each.symbol for finding in report.changes for each in (finding, *finding.consequences)}
    return found | {allocates[1] for each in found if (allocates := ALLOCATES.match(demangle(each)))}


def is_reported(name: Name, found: set[str], shapes: Mapping[Name, Sequence[AnyShape]]) -> bool:
    """Whether a finding is about a type, or about one that it has within: a program reads that one through it."""
    inside = (within for shape in shapes.get(name, ()) for within in embedded(shape))
    return name.spelling in found or any(is_reported(each, found, shapes) for each in inside)


def unreported(case: Case, folder: Path) -> Iterator[str]:
    """The types of a case without a finding that programs have something else of."""
    try:
        old, new = (sources(case, side, folder) for side in ("old", "new"))
    except Missing:
        return
    if old.snapshot.target.format != "elf":
        return
    found = reported(judge(old.snapshot, new.snapshot, None))
    maker = Maker(old, new, folder)
    for facet in ("layout", "source"):
        known = old.snapshot.entries.get(facet, {})
        for name, shapes in sorted(known.items()):
            if any(isinstance(each, Record | Enum) for each in shapes) and not is_reported(name, found, known):
                witness = maker.witness(asked(name, facet))
                if (witness.state, witness.sort) == ("shown", "layout"):
                    yield f"{case.label} {name}: {witness.before} -> {witness.after}"


@pytest.mark.full
def test_programs_have_the_same_of_some_types_without_a_finding(tmp_path: Path) -> None:
    found = [each for case in SILENT[::EVERY] for each in unreported(case, tmp_path / case.label)]
    assert found == []


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1, EVERY, 6))
def test_programs_have_the_same_of_types_without_a_finding(first: int, tmp_path: Path) -> None:
    found = [each for case in SILENT[first::EVERY] for each in unreported(case, tmp_path / case.label)]
    assert found == []
