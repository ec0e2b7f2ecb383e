"""``abi_pr_summary``: a comment for a pull request."""

from __future__ import annotations

from typing import Annotated, Literal

from abistore.interface import Report, Style, render
from abistore.mcp.answers.answer import Answer, asking
from abistore.mcp.answers.changes import ChangeItem, change_item
from abistore.mcp.answers.compared import gaps, headline
from abistore.mcp.answers.units import BYTES, encoded, fitting
from abistore.mcp.call import Call
from abistore.mcp.handles import SHOWN, identity_of, told_report
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import ComparisonId, described
from abistore.report.model import VerdictName

BUDGET = 400
CUT = "\n\n(shortened: abi_findings has the rest)"


class PullRequestAnswer(Answer, frozen=True, kw_only=True):
    """A comment; ``truncated`` where it leaves something out."""

    verdict: VerdictName
    comparison_id: str
    format: Literal["markdown", "json"]
    content: str
    truncated: bool = False
    next: tuple[str, ...] = ()


@tool()
def abi_pr_summary(
    call: Call,
    *,
    comparison_id: ComparisonId,
    format: Annotated[Literal["markdown", "json"], described("Of content")] = "markdown",
    max_items: Annotated[int, described("Most changes", ge=1, le=50)] = 10,
) -> PullRequestAnswer:
    """Write a short comment about a comparison: the verdict, the worst changes, what was not checked."""
    report = told_report(call, comparison_id)
    short = identity_of(report)[:SHOWN]
    content, truncated = _json(report, max_items) if format == "json" else _markdown(report, max_items)
    return PullRequestAnswer(
        headline=headline(report),
        verdict=report.verdict,
        comparison_id=short,
        format=format,
        content=content,
        truncated=truncated,
        next=(asking("abi_gate", comparison_id=short),),
    )


def _markdown(report: Report, most: int) -> tuple[str, bool]:
    """The report's own Markdown, up to the last whole line that fits."""
    text = render(report, "markdown", Style(limit=most))
    data = text.encode()
    room = BUDGET * BYTES
    if len(data) <= room:
        return text, False
    return data[:room].decode(errors="ignore").rpartition("\n")[0] + CUT, True


def _json(report: Report, most: int) -> tuple[str, bool]:
    items: tuple[ChangeItem, ...] = tuple(change_item(change, "summary") for change in report.changes[:most])
    shown = tuple(fitting(items, BUDGET))
    document = {
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "summary": report.summary,
        "changes": shown,
        "not_checked": gaps(report),
    }
    return encoded(document).decode(), len(shown) < len(report.changes)
