"""A report as JUnit XML: a test case for each finding, which fails if the finding fails the comparison."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from abistore.model.findings import Impact
from abistore.model.words import spelled
from abistore.report.model import Report, ReportedFinding, ReportedNotChecked, ReportFormat, Style, fails
from abistore.report.outline import (
    CHECKED,
    REQUIRED,
    advice,
    ruled_by,
    sides,
    suppression,
    told_verdict,
    verdict,
)
from abistore.report.reasons import said
from abistore.report.releases import library_table
from abistore.report.wording import place, said_of, subject, told, unchecked


def render(report: Report, style: Style) -> str:
    """The report as an XML document: a suite for each impact, for suppressed findings, and for what was not checked.

    If one side has less evidence, the first suite is ``evidence``. Its case is skipped, or fails if that evidence is
    required.
    """
    root = Element("testsuites", name=spelled(f"{sides(report)}: {told_verdict(report)}"))
    if report.evidence_gap or report.error:
        case = Element("testcase", classname="abistore.evidence", name=verdict(report))
        _suite(root, "evidence", [_failed(case, report) if report.error else _skipped(case, report.evidence_gap)])
    for impact in sorted(Impact, reverse=True):
        findings = [finding for finding in report.changes if finding.impact == impact.label]
        if findings:
            _suite(root, impact.label, [_case(finding, report) for finding in findings])
    if report.suppressed:
        _suite(
            root,
            "suppressed",
            [_skipped(_named(each), f"by {suppression(each)}") for each in report.suppressed],
        )
    if report.not_checked:
        _suite(root, "not_checked", [_unchecked(item) for item in report.not_checked])
    if not report.changes:
        name = f"no change {CHECKED}" if report.evidence_gap else "no change"
        _suite(root, "compatible", [Element("testcase", classname="abistore", name=name)])
    _properties(root[0], report)
    for attribute in ("tests", "failures", "skipped"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _suite(root: Element, name: str, cases: list[Element]) -> None:
    suite = SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
    )
    suite.extend(cases)


def _properties(suite: Element, report: Report) -> None:
    properties = Element("properties")
    told = [("advice", f"{each.kind}: {text}") for each, text in advice(report)]
    told += [("decision", text) for text in said(report)]
    told += [("guessed", text) for text in (report.guessed,) if text]
    told += [(f"library {row.name}", ", ".join(filter(None, row[3::2]))) for row in library_table(report).rows]
    told += [("judged by", ruled_by(report)), *(("note", remark) for remark in report.notes)]
    for name, value in told:
        SubElement(properties, "property", name=name, value=spelled(value))
    suite.insert(0, properties)


def _named(finding: ReportedFinding) -> Element:
    case = Element("testcase", classname=spelled(finding.kind), name=spelled(subject(finding)))
    if where := place(finding):
        case.set("file", spelled(where[0]))
        case.set("line", str(where[1]))
    return case


def _case(finding: ReportedFinding, report: Report) -> Element:
    case = _named(finding)
    if finding.approved and report.decision is not None and finding.id in report.decision.waived_ids:
        return _skipped(case, "; ".join(said_of(finding)))
    text = spelled("\n".join(told(finding)))
    if fails(report, finding):
        failure = SubElement(case, "failure", type=finding.impact, message=spelled(finding.description))
        failure.text = text
    else:
        SubElement(case, "system-out").text = text
    return case


def _failed(case: Element, report: Report) -> Element:
    failure = SubElement(case, "failure", type=report.code, message=spelled(f"{REQUIRED}: {report.error}"))
    failure.text = spelled(report.hint)
    return case


def _skipped(case: Element, why: str) -> Element:
    SubElement(case, "skipped", message=spelled(why))
    return case


def _unchecked(item: ReportedNotChecked) -> Element:
    case = Element("testcase", classname=f"not_checked.{item.facet}", name=f"{item.side}: {item.reason}")
    return _skipped(case, ". ".join(filter(None, (unchecked(item), item.hint))))


FORMAT = ReportFormat(render, suffix=".xml")
