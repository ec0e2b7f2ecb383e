"""Reports: a judged comparison as text for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.errors import UsageError
from abistore.report.model import format_named, formats_with_modes

if TYPE_CHECKING:
    from abistore.report.model import Report, Style


def render(report: Report, format: str, style: Style) -> str:
    """The report in one of :func:`abistore.report.model.formats`, with hostile names made harmless.

    Raises :class:`UsageError` for an unknown format, and :class:`LimitExceeded` if rendering takes too long.
    """
    return format_named(format).escape(draft(report, format, style))


def draft(report: Report, format: str, style: Style) -> str:
    """The same without escaping, to be put into a longer text that is escaped as a whole."""
    chosen = format_named(format)
    if style.mode != "full" and not chosen.has_modes:
        raise UsageError(f"mode {style.mode} is not for {format}", f"it is for {' and '.join(formats_with_modes())}")
    from abistore.limits import limits_for
    from abistore.report.model import legible
    from abistore.report.outline import with_short_paths

    with limits_for(weight(report), f"writing the report as {format}"):
        report = with_short_paths(report, style.source_root)
        return chosen.render(report if chosen.is_complete else legible(report), style)


def weight(report: Report) -> int:
    """About how many bytes of input writing a report is worth, for its limits."""
    return (len(report.changes) + len(report.suppressed) + len(report.declarations)) << 10
