"""A report as JUnit XML: a test case for each change, which fails where the change fails the comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from abistore.model.findings import Impact
from abistore.report.modes import fails
from abistore.report.outline import Change, Report, Unchecked
from abistore.report.style import Style
from abistore.report.wording import place, subject, told, unchecked

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold (section 2.2), escaped or not."""


def render(report: Report, style: Style) -> str:
    """The report as an XML document: a suite for each impact, for what is suppressed and for what was not checked."""
    root = Element("testsuites", name=_clean(f"{report.old} -> {report.new}: {report.verdict}"))
    for impact in sorted(Impact, reverse=True):
        changes = [change for change in report.changes if change.impact == impact.label]
        if changes:
            _suite(root, impact.label, [_case(change, report) for change in changes])
    if report.suppressed:
        _suite(
            root,
            "suppressed",
            [_skipped(_named(each), each.suppressed_by or "suppressed") for each in report.suppressed],
        )
    if report.not_checked:
        _suite(root, "not_checked", [_unchecked(item) for item in report.not_checked])
    if not report.changes:
        _suite(root, "compatible", [Element("testcase", classname="abistore", name="no change")])
    if report.notes:
        _properties(root[0], report.notes)
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


def _properties(suite: Element, notes: Iterable[str]) -> None:
    properties = Element("properties")
    for remark in notes:
        SubElement(properties, "property", name="note", value=_clean(remark))
    suite.insert(0, properties)


def _named(change: Change) -> Element:
    case = Element("testcase", classname=change.kind, name=_clean(subject(change)))
    if where := place(change):
        case.set("file", _clean(where[0]))
        case.set("line", str(where[1]))
    return case


def _case(change: Change, report: Report) -> Element:
    case = _named(change)
    text = _clean("\n".join(told(change)))
    if fails(report, change):
        failure = SubElement(case, "failure", type=change.impact, message=_clean(change.description))
        failure.text = text
    else:
        SubElement(case, "system-out").text = text
    return case


def _skipped(case: Element, why: str) -> Element:
    SubElement(case, "skipped", message=_clean(why))
    return case


def _unchecked(item: Unchecked) -> Element:
    case = Element("testcase", classname=f"not_checked.{item.facet}", name=f"{item.side}: {item.reason}")
    return _skipped(case, ". ".join(filter(None, (unchecked(item), item.hint))))


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
