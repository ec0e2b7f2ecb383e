"""JUnit XML and GitHub annotations: what fails there is what fails the comparison."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from abistore.model.findings import FailOn, Verdict
from abistore.report import render
from abistore.report.model import Report, Style
from abistore.report.outline import outline as outlined
from abistore.service.decision import DecisionRequest, decided
from tests.report.comparisons import MOVED, comparison, many
from tests.report.golden import report


def junit(made: Report) -> ElementTree.Element:
    return ElementTree.fromstring(render(made, "junit", Style()))


def failing(made: Report, gate: FailOn) -> tuple[list[str], list[str]]:
    gated = decided(made, DecisionRequest(fail_on=gate))
    suites = [suite.get("name", "") for suite in junit(gated) if suite.find("testcase/failure") is not None]
    errors = [line for line in render(gated, "github", Style()).splitlines() if line.startswith("::error")]
    return suites, errors


@pytest.mark.parametrize(
    ("gate", "suites", "errors"),
    [
        ("breaking", ["breaking"], 3),
        ("api_break", ["breaking", "api_break"], 4),
        ("risk", ["breaking", "api_break", "risk"], 5),
        ("never", [], 0),
    ],
)
def test_what_fails_follows_the_gate(gate: FailOn, suites: list[str], errors: int) -> None:
    found, lines = failing(report(), gate)
    assert found == suites
    assert len(lines) == errors


def test_junit_counts_agree_with_its_cases() -> None:
    root = junit(report())
    cases = root.findall("testsuite/testcase")
    assert root.get("tests") == str(len(cases)) == "11"
    assert root.get("failures") == str(len(root.findall("testsuite/testcase/failure"))) == "4"
    assert root.get("skipped") == str(len(root.findall("testsuite/testcase/skipped"))) == "4"
    for suite in root:
        assert suite.get("tests") == str(len(suite.findall("testcase")))


def test_a_comparison_without_changes_is_a_passing_test() -> None:
    root = junit(decided(outlined(comparison(verdict=Verdict.NO_CHANGE, not_checked=False)), DecisionRequest()))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_is_xml_whatever_names_hold() -> None:
    odd = replace(MOVED, part="\x00\x1b[31m]]>\ufffe<&\"'", description="\x08<b>")
    (case,) = junit(decided(outlined(comparison(odd, not_checked=False)), DecisionRequest())).findall(
        "testsuite/testcase"
    )
    assert "]]>" in (case.get("name") or "")
    assert not re.search("[\x00\x08\x1b\ufffe]", "".join(case.itertext()) + str(case.attrib))


def test_annotations_point_at_lines_and_escape_what_ends_a_command() -> None:
    lines = render(report(), "github", Style()).splitlines()
    first = next(line for line in lines if line.startswith("::error"))
    assert first.startswith("::error file=include/geo|shape.h,line=12,title=type_field_added%3A geo%3A%3AShape")
    assert "100%25 sure" in "\n".join(lines)
    odd = replace(MOVED, part="a,b:c\r\nd%", description="one\n::error::two")
    text = render(decided(outlined(comparison(odd, not_checked=False)), DecisionRequest()), "github", Style())
    assert text.count("\n") == 3
    assert "a%2Cb%3Ac\\x0d%0Ad%25" in text


def test_annotations_are_bounded_and_say_how_many_more_there_are() -> None:
    made = decided(outlined(many(500)), DecisionRequest())
    bounded = render(made, "github", Style()).splitlines()
    assert sum(line.startswith("::error") for line in bounded) == 10
    assert "and 490 more of impact breaking (--full shows all)" in bounded
    assert render(made, "github", Style(limit=None)).count("::error") == 500
