"""``abistore://comparisons/...``: comparisons that the server keeps, or that the store remembers."""

from __future__ import annotations

from abistore.interface import Report, Style, render
from abistore.mcp.answers.changes import change_item
from abistore.mcp.answers.compared import gaps, headline
from abistore.mcp.answers.units import as_text
from abistore.mcp.call import Call
from abistore.mcp.handles import findings_of, one_finding, report_of
from abistore.mcp.resources.declaration import MARKDOWN, resource


@resource("abistore://comparisons/{comparison_id}/summary", lasts=True)
def comparison_summary(call: Call, *, comparison_id: str) -> str:
    """The verdict of a comparison, counts, and what was not checked."""
    report = _report(call, comparison_id)
    told = {
        "status": "ok",
        "headline": headline(report),
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "summary": report.summary,
        "not_checked": gaps(report),
    }
    return as_text(told)


@resource("abistore://comparisons/{comparison_id}/report.json", lasts=True)
def comparison_report(call: Call, *, comparison_id: str) -> str:
    """The whole report of a comparison, as `abistore compare --json`."""
    return _written(call, comparison_id, "json")


@resource("abistore://comparisons/{comparison_id}/report.md", MARKDOWN, lasts=True)
def comparison_page(call: Call, *, comparison_id: str) -> str:
    """The same as a page."""
    return _written(call, comparison_id, "markdown")


@resource("abistore://comparisons/{comparison_id}/report.sarif", "application/sarif+json", lasts=True)
def comparison_sarif(call: Call, *, comparison_id: str) -> str:
    """The same as SARIF."""
    return _written(call, comparison_id, "sarif")


@resource("abistore://comparisons/{comparison_id}/report.html", "text/html", lasts=True)
def comparison_html(call: Call, *, comparison_id: str) -> str:
    """The same as HTML."""
    return _written(call, comparison_id, "html")


@resource("abistore://comparisons/{comparison_id}/findings/{finding_id}", lasts=True)
def comparison_finding(call: Call, *, comparison_id: str, finding_id: str) -> str:
    """One finding of a comparison."""
    report = _report(call, comparison_id)
    cards = {card.kind: card for card in report.kinds}
    change = one_finding(findings_of(report), finding_id)
    return as_text({"status": "ok", "finding": change_item(change, "full", cards.get(change.kind))})


def _report(call: Call, comparison_id: str) -> Report:
    return report_of(call, comparison_id, judge=False)


def _written(call: Call, comparison_id: str, format: str) -> str:
    return render(_report(call, comparison_id), format, Style())
