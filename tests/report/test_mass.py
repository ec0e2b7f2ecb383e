"""Ten times the findings cost ten times as much in every format, and fifty thousand are rendered."""

from __future__ import annotations

from functools import partial

import pytest

from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Finding, Impact
from abistore.report import render
from abistore.report.model import MODES, ComparedDeclaration, Mode, Report, Style, formats, formats_with_modes
from abistore.report.outline import outline
from tests.effort import steps
from tests.report.comparisons import comparison

pytestmark = pytest.mark.full

SMALL, LARGE, MASS = 400, 4_000, 50_000
RENDERINGS: list[tuple[str, Mode]] = [(format, "full") for format in formats()]
RENDERINGS += [(format, mode) for format in formats_with_modes() for mode in MODES if mode not in {"full", "stat"}]


def mass(count: int) -> Comparison:
    """Many kinds, declarations and shared lists of affected exports."""
    exports = tuple(Name("function", f"export_{number:02}") for number in range(20))
    findings = (
        Finding(
            f"kind_{number % 40}",
            Name("record", f"record_{number // 3:05}"),
            f"field_{number}",
            "the field moved",
            Impact(number % 4),
            "layout",
            f"offset {number}",
            f"offset {number + 8}",
            affected=exports,
        )
        for number in range(count)
    )
    return comparison(*findings)


def report(count: int) -> Report:
    made = mass(count)
    names = sorted({finding.name.spelling for finding in made.findings})
    declarations = tuple(
        ComparedDeclaration(
            name, "record", f"struct {name} {{\n    int a;  // 0\n}};", f"struct {name} {{\n    int a;  // 8\n}};"
        )
        for name in names
    )
    return outline(made, declarations=declarations)


@pytest.fixture(scope="module")
def reports() -> tuple[Report, Report]:
    return report(SMALL), report(LARGE)


@pytest.fixture(scope="module")
def masses() -> Report:
    return report(MASS)


@pytest.mark.parametrize(("format", "mode"), RENDERINGS)
def test_the_cost_of_a_format_grows_with_the_findings_and_no_faster(
    format: str, mode: Mode, reports: tuple[Report, Report]
) -> None:
    style = Style(mode=mode, limit=None)
    small, large = (steps(partial(render, made, format, style)) for made in reports)
    assert large <= 12 * small + 1_000
    assert len(render(reports[1], format, style)) <= 12 * len(render(reports[0], format, style))


@pytest.mark.parametrize(("format", "mode"), RENDERINGS)
def test_fifty_thousand_findings_are_rendered(format: str, mode: Mode, masses: Report) -> None:
    text = render(masses, format, Style(mode=mode, limit=None))
    assert f"record_{(MASS - 1) // 3:05}" in text


def test_arranging_grows_with_the_findings_and_no_faster() -> None:
    few, many = mass(SMALL), mass(LARGE)
    assert steps(lambda: outline(many)) <= 12 * steps(lambda: outline(few)) + 1_000
