"""A report for the terminal: the verdict first, the worst changes next, and what nobody could check last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from abistore.model.counting import counted
from abistore.report.arrangements import (
    HEADINGS,
    Declarations,
    Group,
    KindGroup,
    Root,
    declarations,
    groups,
    impacts,
    roots,
)
from abistore.report.difference import difference
from abistore.report.heading import advice, by_suppression, ruled_by, stat, tone, verdict
from abistore.report.model import Change, Declared, Report, Unchecked
from abistore.report.registry import Format
from abistore.report.style import Style
from abistore.report.wording import (
    affects,
    by_itself,
    consequences,
    counts,
    distinct,
    location_of,
    ruled,
    several,
    shortened,
    subject,
    unchecked,
    value_lines,
    values,
)

NAMES_SHOWN = 3
CONSEQUENCES_SHOWN = 3
NAME_WIDTH = 80
DIFFERENCES_SHOWN = 14
LINES_SHOWN = 4
DEEP = " " * 10
NAME_COLUMN = 48
SIGNS = frozenset("-+!")
"""What begins a line that is painted."""


def render(report: Report, style: Style) -> str:
    """The report as lines of text, without a newline at its end."""
    if style.mode != "full":
        return "\n".join(arranged(report, style))
    return "\n".join(_lines(report, style))


def _lines(report: Report, style: Style) -> Iterator[str]:
    pending = declarations(report)
    yield from heading(report, style)
    for group in groups(report):
        yield ""
        yield from _group(group, pending, style)
    yield from ending(report, style)


def heading(report: Report, style: Style) -> Iterator[str]:
    """What every long report begins with: the verdict, what was compared and by what it was judged, and advice."""
    yield from _headlines(report, style)
    yield from _sides(report, style)
    yield from _advice(report, style)


def ending(report: Report, style: Style) -> Iterator[str]:
    """What every long report ends with: what was suppressed and what not checked, remarks, and the counts."""
    if report.suppressed:
        yield ""
        yield from _suppressed(report.suppressed, style)
    if report.not_checked:
        yield ""
        yield style.paint("Not checked", "bold")
        for item in report.not_checked:
            yield from _unchecked(item, style)
    for remark in report.notes:
        yield from wrapped(f"note: {remark}", "", style)
    yield ""
    yield counts(report)


def headline(report: Report, style: Style) -> str:
    """The two operands and the verdict with what it does not cover, in one line."""
    said = style.paint(verdict(report), tone(report))
    return f"{report.old} -> {report.new}: {said}{f': {report.evidence_gap}' if report.evidence_gap else ''}"


def _headlines(report: Report, style: Style) -> Iterator[str]:
    """The headline, in two where it is too long for one."""
    line = headline(report, style)
    if not report.evidence_gap or len(headline(report, style._replace(colour=False))) <= style.width:
        yield line
    else:
        yield line.removesuffix(f" {report.evidence_gap}")
        yield from wrapped(report.evidence_gap, "  ", style)


def _sides(report: Report, style: Style) -> Iterator[str]:
    old, new = report.old, report.new
    soname = old.soname if old.soname == new.soname else f"{old.soname or 'none'} -> {new.soname or 'none'}"
    exports = counted(new.exports, "export")
    if old.exports != new.exports:
        exports = f"{old.exports} -> {exports}"
    for text in (f"{new.target}, SONAME {soname or 'none'}, {exports}", ruled_by(report)):
        yield from (style.paint(line, "dim") for line in wrapped(text, "  ", style))


def _advice(report: Report, style: Style) -> Iterator[str]:
    said = tuple(advice(report))
    if said:
        yield ""
        yield style.paint("Advice", "bold")
    for each, text in said:
        first, *rest = wrapped(f"{each.kind}: {text}", "  ", style)
        yield first.replace(each.kind, style.paint(each.kind, "bold"), 1)
        yield from rest


def _group(group: Group, pending: Declarations, style: Style) -> Iterator[str]:
    label = group.impact.label
    yield style.paint(f"{HEADINGS[label]} ({group.total})", label)
    for kind in group.kinds:
        yield from _kind(kind, pending, style)


def _kind(group: KindGroup, pending: Declarations, style: Style) -> Iterator[str]:
    descriptions = {change.description for change in group.changes}
    shared = descriptions.pop() if len(descriptions) == 1 else ""
    count = f" ({len(group.changes)})" if len(group.changes) > 1 else ""
    first, *rest = wrapped(f"{group.kind}{count}: {shared}".removesuffix(": "), "  ", style)
    yield first.replace(group.kind, style.paint(group.kind, "bold"), 1)
    yield from rest
    shown = len(group.changes) if style.limit is None else style.limit
    for change in islice(group.changes, shown):
        yield from wrapped(f"{subject(change)}{_where(change, style)}", "      ", style)
        if not shared:
            yield from wrapped(change.description, DEEP, style)
        declared = pending.pop((change.subject, change.symbol), None)
        drawn = declared is not None and worth_drawing(declared, style)
        yield from facts(change, style, drawn=drawn)
        if declared and drawn:
            yield from compared(declared, style)
    if len(group.changes) > shown:
        yield f"      and {len(group.changes) - shown} more (--full shows all)"


def _where(change: Change, style: Style) -> str:
    """Where it is declared; with detail, the finding's identity too."""
    location = f"  ({location_of(change)})" if change.source_location else ""
    return f"{location}  [{change.id}]" if style.detail else location


def finding(change: Change, declared: Declared | None, style: Style) -> Iterator[str]:
    """One change on its own."""
    yield from wrapped(f"{subject(change)}{_where(change, style)}", "  ", style)
    yield from wrapped(f"{change.kind}, {change.impact}: {change.description}", "    ", style)
    yield from facts(change, style, drawn=declared is not None)
    if declared:
        yield from compared(declared, style)


def facts(change: Change, style: Style, *, affected: bool = True, drawn: bool = False) -> Iterator[str]:
    """The values of a change, who is affected, and what follows from it.

    Who is affected is left out where that is said elsewhere, and values of several lines where they are ``drawn``.
    """
    yield from _values(change, style, drawn)
    if policy := ruled(change):
        yield from wrapped(policy, DEEP, style)
    if affected and affects(change):
        yield from wrapped(f"{affects(change)}: {listed(change.affected, style)}", DEEP, style)
    yield from _consequences(consequences(change), style)


def worth_drawing(declared: Declared, style: Style) -> bool:
    """A type that came or went is told by its name; its members only with detail."""
    text = declared.after if declared.before is None else declared.before if declared.after is None else ""
    return style.detail or "\n" not in (text or "")


def compared(declared: Declared, style: Style) -> Iterator[str]:
    """The lines in which a declaration differs, the first of them only unless detail is wanted."""
    yield from _differing([f"{sign} {shortened(text)}".rstrip() for sign, text in difference(declared)], style)


def _differing(lines: Sequence[str], style: Style) -> Iterator[str]:
    shown = len(lines) if style.detail else DIFFERENCES_SHOWN
    for text in lines[:shown]:
        for line in wrapped(text, DEEP, style):
            yield style.paint(line, text[0]) if text[:1] in SIGNS else line
    if len(lines) > shown:
        yield f"{DEEP}… (-v shows all)"


def _values(change: Change, style: Style, drawn: bool) -> Iterator[str]:
    """In one line where they fit, else one below the other; of declarations the lines that differ."""
    lines = value_lines(change)
    if len(lines) > 1:
        yield from () if drawn else _differing(lines, style)
    elif lines and len(lines[0]) + len(DEEP) <= style.width:
        yield f"{DEEP}{lines[0]}"
    elif lines:
        both = values(change)
        for sign, value in zip("-+", both, strict=False):
            told = list(wrapped(f"{sign} {value}" if len(both) > 1 else value, DEEP, style))
            shown = len(told) if style.detail else LINES_SHOWN
            yield from told[:shown]
            if len(told) > shown:
                yield f"{DEEP}{sign} ... (-v shows all)"


def listed(symbols: Sequence[str], style: Style) -> str:
    """The first of ``symbols`` as a programmer calls them, and how many more there are; all with detail."""
    told, more = distinct(symbols, None) if style.detail else distinct(symbols, NAMES_SHOWN, NAME_WIDTH)
    texts = (name + several(count) for name, count in told.items())
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _suppressed(changes: Sequence[Change], style: Style) -> Iterator[str]:
    yield style.paint(f"Suppressed ({len(changes)})", "bold")
    for by, taken in by_suppression(changes).items():
        yield from wrapped(f"by {by}", "  ", style)
        shown = len(taken) if style.limit is None else style.limit
        for change in taken[:shown]:
            yield from wrapped(f"{change.kind}: {subject(change)}", "      ", style)
        if len(taken) > shown:
            yield f"      and {len(taken) - shown} more (--full shows all)"


def _consequences(told: Sequence[str], style: Style) -> Iterator[str]:
    shown = len(told) if style.detail else CONSEQUENCES_SHOWN
    for text in told[:shown]:
        yield from wrapped(f"hence {text}", DEEP, style)
    if len(told) > shown:
        yield f"{DEEP}and {counted(len(told) - shown, 'more consequence')} (-v shows all)"


def _unchecked(item: Unchecked, style: Style) -> Iterator[str]:
    yield from wrapped(f"{unchecked(item)} ({item.reason})", "  ", style)
    if item.names:
        yield from wrapped(listed(item.names, style), "      ", style)
    if item.hint:
        yield from wrapped(f"hint: {item.hint}", "      ", style)


def wrapped(text: str, indent: str, style: Style) -> Iterator[str]:
    """``text`` within the width, its further lines indented more; words longer than that stay whole."""
    yield from textwrap.wrap(
        text,
        style.width,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


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
    if not by_itself(root.symbol, root.display, root.affected):
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


FORMAT = Format(render, has_modes=True)
