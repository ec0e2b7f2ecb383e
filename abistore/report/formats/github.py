"""A report as workflow commands of GitHub Actions: annotations at the lines that declare what changed."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.model.words import counted, own, spelled
from abistore.report.document import groups
from abistore.report.model import Report, ReportedFinding, ReportFormat, Style, fails
from abistore.report.outline import REQUIRED, advice, by_suppression, verdict
from abistore.report.reasons import said, stat
from abistore.report.wording import place, subject, told, unchecked

LIMIT = 10
"""GitHub shows at most this many annotations of one level for a step."""


def render(report: Report, style: Style) -> str:
    """One annotation for each finding, worst first; then a notice for what was not checked, and the counts.

    Before them come missing required evidence as an error, the decision, and as warnings what the verdict does not
    cover, and advice.
    """
    return "\n".join((*_lines(report, style), *_libraries(report), stat(report)))


def _libraries(report: Report) -> Iterator[str]:
    if not report.libraries:
        return
    from abistore.report.releases import library_table  # few reports are about releases of several

    table = library_table(report)
    for row in table.rows:
        yield spelled(f"{row.name}: {', '.join(filter(None, (row.verdict, row.counts)))}")
    if table.unchanged:
        yield spelled(table.unchanged)


def _lines(report: Report, style: Style) -> Iterator[str]:
    level = "notice" if report.decision is not None and report.decision.outcome == "pass" else "warning"
    for number, each in enumerate(said(report)):
        missing = report.error and number == 0
        yield _command("error" if missing else level, each, title=REQUIRED if missing else verdict(report))
    if report.evidence_gap:
        yield _command("warning", report.evidence_gap, title=verdict(report))
    if report.guessed:
        yield _command("notice", report.guessed, title=verdict(report))
    yield from (_command("warning", text, title=f"Advice: {each.kind}") for each, text in advice(report))
    for impact, kinds in groups(report).items():
        findings = [finding for same in kinds.values() for finding in same]
        shown = len(findings) if style.limit is None else min(style.limit, LIMIT, len(findings))
        yield from (_annotation(_level(report, finding), finding) for finding in findings[:shown])
        if len(findings) > shown:
            yield f"and {len(findings) - shown} more of impact {impact} (--full shows all)"
    for by, taken in by_suppression(report.suppressed).items():
        yield f"suppressed: {counted(len(taken), 'change')} by {' '.join(by.split())}"
    for item in report.not_checked:
        text = ". ".join(filter(None, (unchecked(item), item.hint)))
        yield _command("notice", text, title=f"Not checked: {item.facet} ({item.side})")
    yield from (_command("notice", remark, title="Note") for remark in report.notes)


def _level(report: Report, finding: ReportedFinding) -> str:
    if fails(report, finding):
        return "error"
    return "notice" if finding.impact in {"compatible", "notice"} else "warning"


def _annotation(level: str, finding: ReportedFinding) -> str:
    title = f"{finding.kind}: {subject(finding)}"
    text = "\n".join(told(finding))
    if where := place(finding):
        file, line = where
        return _command(level, text, file=file, **({"line": str(line)} if line else {}), title=title)
    return _command(level, text, title=title)


def _command(level: str, text: str, **properties: str) -> str:
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return own(f"::{level} {said}::{_data(text)}")


def _data(text: str) -> str:
    return spelled(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = ReportFormat(render)
