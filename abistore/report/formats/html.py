"""A report as one self-contained HTML page with filters, explanations, and records drawn before and after.

The page is ``abistore/report/templates/page.html``, a Jinja2 template that escapes whatever is put into it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from abistore.report.drawing import environment, told_in_pages
from abistore.report.history import corners, outcome_mark
from abistore.report.model import Report, ReportFormat, Style
from abistore.report.outline import CHECKED, is_first, verdict

if TYPE_CHECKING:
    from jinja2 import Template


def render(report: Report, style: Style) -> str:
    """The report as a page, without a newline at its end. It has all findings, whatever the style's limit."""
    name = "No verdict" if is_first(report) else report.verdict.replace("_", " ").capitalize()
    return _page().render(
        **told_in_pages(report, style),
        verdict=verdict(report),
        verdict_in_words=f"{name} {CHECKED}" if report.evidence_gap else name,
    )


@cache
def _page() -> Template:
    made = environment()
    made.filters |= {"corners": corners, "outcome_mark": outcome_mark}
    return made.get_template("page.html")


FORMAT = ReportFormat(render, suffix=".html")
