"""Whole reports: sent with an answer where they are short, and by their address where not."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from abistore.interface import Report, Style, render
from abistore.mcp.answers.units import units
from abistore.mcp.refusals import Refusal

FORMATS = {"html": "html", "json": "json", "markdown": "md", "sarif": "sarif"}
"""How a report may be written, and how its address ends then."""

MOST_UNITS, BESIDE = 4_000, 2_000
"""The longest report or snapshot that is sent with an answer, and what is left for the rest of that answer."""


class WrittenReport(NamedTuple):
    """A report that was asked for: ``inline`` as an object for JSON and as text else; nothing where it is too long."""

    suffix: str
    inline: Any = None
    warnings: tuple[str, ...] = ()


def check_format(format: str) -> None:
    """Raises :class:`Refusal` for a format that is not known."""
    if format not in FORMATS:
        valid = ",".join(repr(name) for name in sorted(FORMATS))
        raise Refusal("INVALID_ARGUMENT", f"Unknown output format {format!r}. Valid: [{valid}]")


def address(comparison_id: str | None, suffix: str) -> str:
    """Where the whole report of a comparison is read."""
    return f"abistore://comparisons/{comparison_id}/report.{suffix}"


def written(report: Report, format: str, style: Style, *, show_impact: bool, most: int) -> WrittenReport:
    """The report in a format, where it is short enough for an answer of at most ``most`` units."""
    suffix = FORMATS[format]
    text = _text(report, format, style, show_impact)
    length = units(text.encode())
    if length > min(MOST_UNITS, most - BESIDE):
        warning = f"the report has {length:,} units and is not sent with the answer: read report_uri"
        return WrittenReport(suffix, warnings=(warning,))
    return WrittenReport(suffix, json.loads(text) if format == "json" else text)


def _text(report: Report, format: str, style: Style, show_impact: bool) -> str:
    if format != "markdown":
        return render(report, format, Style())
    text = render(report, format, style)
    return f"{text}\n\n{render(report, format, Style(mode='impact'))}" if show_impact else text
