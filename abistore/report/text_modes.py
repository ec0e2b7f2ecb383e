"""The shorter arrangements of the text report."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from abistore.model.counting import counted
from abistore.report.modes import Root, impacts, roots, stat
from abistore.report.outline import Report
from abistore.report.style import Style
from abistore.report.text import compared, ending, facts, heading, listed, worth_drawing, wrapped
from abistore.report.wording import by_itself, shortened

NAME_COLUMN = 48


def arranged(report: Report, style: Style) -> Iterator[str]:
    """The report by declaration, as a table of who is affected, or in one line."""
    if style.mode == "stat":
        yield stat(report)
        return
    yield from heading(report, style)
    yield from _leaf(report, style) if style.mode == "leaf" else _impact(report, style)
    yield from ending(report, style)


def _leaf(report: Report, style: Style) -> Iterator[str]:
    found = roots(report)
    shown = len(found) if style.limit is None else style.limit
    for root in found[:shown]:
        yield ""
        yield from _root(root, style)
    if len(found) > shown:
        yield ""
        yield f"and {counted(len(found) - shown, 'more declaration')} (--full shows all)"


def _root(root: Root, style: Style) -> Iterator[str]:
    where = f"  ({root.location})" if root.location else ""
    label = root.impact.label
    first, *rest = wrapped(f"{label}  {shortened(root.display)}{where}", "", style)
    yield first.replace(label, style.paint(label, label), 1)
    yield from rest
    if not by_itself(root):
        yield from wrapped(
            f"affects {counted(len(root.affected), 'export')}: {listed(root.affected, style)}", "    ", style
        )
    drawn = root.declared is not None and worth_drawing(root.declared, style)
    shown = len(root.changes) if style.limit is None else style.limit
    for change in islice(root.changes, shown):
        part = f"{change.part}: " if change.part else ""
        yield from wrapped(f"{change.kind}: {part}{change.description}", "    ", style)
        yield from facts(change, style, affected=False, drawn=drawn)
    if len(root.changes) > shown:
        yield f"    and {len(root.changes) - shown} more (--full shows all)"
    if root.declared and drawn:
        yield from compared(root.declared, style)


def _impact(report: Report, style: Style) -> Iterator[str]:
    rows = impacts(report)
    shown = len(rows) if style.limit is None else style.limit
    yield ""
    yield style.paint(f"{'impact':<11} {'exports':>7}  {'changed':<{NAME_COLUMN}}  through", "bold")
    for root in rows[:shown]:
        label = root.impact.label
        kinds = ", ".join(dict.fromkeys(change.kind for change in root.changes))
        name = shortened(root.display) or ""
        line = f"{label:<11} {len(root.affected):>7}  {name:<{NAME_COLUMN}}  {kinds}".rstrip()
        line = line if len(line) <= style.width else f"{line[: style.width - 3]}..."
        yield line.replace(label, style.paint(label, label), 1)
    if len(rows) > shown:
        yield f"and {len(rows) - shown} more (--full shows all)"
    reached = {name for root in rows for name in root.affected}
    yield f"{counted(len(reached), 'export')} affected; the old side has {report.old.exports}"
