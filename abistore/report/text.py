"""A report for the terminal: the verdict first, the worst changes next, and what nobody could check last."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from abistore.model.demangle import demangle
from abistore.report.outline import Change, Group, KindGroup, Report, Unchecked, groups
from abistore.report.style import Style

NAMES_SHOWN = 3
CONSEQUENCES_SHOWN = 3
LINES_SHOWN = 4
NAME_WIDTH = 80
STRINGS = tuple(
    f"std::{inline}basic_string<char, std::char_traits<char>, std::allocator<char>>" for inline in ("__cxx11::", "")
)
TONES = {
    "NO_CHANGE": "compatible",
    "COMPATIBLE": "compatible",
    "COMPATIBLE_WITH_RISK": "risk",
    "API_BREAK": "api_break",
    "BREAKING": "breaking",
}
DEEP = " " * 10
HEADINGS = {"breaking": "Breaking", "api_break": "Source breaks", "risk": "Risks", "compatible": "Compatible"}


def render(report: Report, style: Style) -> str:
    """The report as lines of text, without a newline at its end."""
    return "\n".join(_lines(report, style))


def _lines(report: Report, style: Style) -> Iterator[str]:
    yield headline(report, style)
    yield from _sides(report, style)
    for group in groups(report):
        yield ""
        yield from _group(group, style)
    if report.not_checked:
        yield ""
        yield style.paint("Not checked", "bold")
        for item in report.not_checked:
            yield from _unchecked(item, style)
    for remark in report.notes:
        yield from _wrapped(f"note: {remark}", "", style)
    yield ""
    yield closing(report)


def headline(report: Report, style: Style) -> str:
    """The two operands and the verdict, in one line."""
    verdict = style.paint(report.verdict, TONES[report.verdict])
    return f"{report.old} -> {report.new}: {verdict}"


def closing(report: Report) -> str:
    """The counts and the exit code, in one line."""
    summary = report.summary
    counts = (
        (summary.breaking, "breaking"),
        (summary.api_breaks, "source breaks"),
        (summary.risk_changes, "risks"),
        (summary.compatible, "compatible"),
        (report.suppressed_count, "suppressed"),
    )
    said = ", ".join(f"{count} {word}" for count, word in counts if count) or "no changes"
    unchecked = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
    return f"{said}{unchecked}; exit code {report.exit_code}"


def _sides(report: Report, style: Style) -> Iterator[str]:
    old, new = report.old, report.new
    soname = old.soname if old.soname == new.soname else f"{old.soname or 'none'} -> {new.soname or 'none'}"
    exports = f"{old.exports}" if old.exports == new.exports else f"{old.exports} -> {new.exports}"
    yield style.paint(f"  {new.target}, SONAME {soname or 'none'}, {exports} exports", "dim")


def _group(group: Group, style: Style) -> Iterator[str]:
    label = group.impact.label
    yield style.paint(f"{HEADINGS[label]} ({group.total})", label)
    for kind in group.kinds:
        yield from _kind(kind, style)


def _kind(group: KindGroup, style: Style) -> Iterator[str]:
    descriptions = {change.description for change in group.changes}
    shared = descriptions.pop() if len(descriptions) == 1 else ""
    count = f" ({len(group.changes)})" if len(group.changes) > 1 else ""
    first, *rest = _wrapped(f"{group.kind}{count}: {shared}".removesuffix(": "), "  ", style)
    yield first.replace(group.kind, style.paint(group.kind, "bold"), 1)
    yield from rest
    shown = len(group.changes) if style.limit is None else style.limit
    for change in islice(group.changes, shown):
        yield from _change(change, "" if shared else change.description, style)
    if len(group.changes) > shown:
        yield f"      and {len(group.changes) - shown} more (--full shows all)"


def _change(change: Change, description: str, style: Style) -> Iterator[str]:
    where = f"  ({change.source_location})" if change.source_location else ""
    yield from _wrapped(subject(change) + where, "      ", style)
    if description:
        yield from _wrapped(description, DEEP, style)
    if {change.old_value, change.new_value} - {None, change.symbol, change.display}:
        yield from _values(change.old_value, change.new_value, style)
    if change.affected and change.affected != (change.symbol,):
        yield from _wrapped(_affected(change, style), DEEP, style)
    yield from _consequences(change.consequences, style)


def subject(change: Change) -> str:
    """What changed, as a programmer calls it."""
    name = shortened(change.display) or ""
    return f"{name}: {change.part}" if change.part else name


def _values(old: str | None, new: str | None, style: Style) -> Iterator[str]:
    """Both values in one line where they fit, else one below the other; one where they are the same."""
    values = (old,) if old == new else (old, new)
    line = " -> ".join(value if value is not None else "(none)" for value in map(shortened, values))
    if "\n" not in line and len(line) + len(DEEP) <= style.width:
        yield f"{DEEP}{line}"
        return
    for sign, value in zip("-+", map(shortened, values), strict=False):
        lines = [part for text in (value or "").splitlines() for part in _wrapped(f"{sign} {text}", DEEP, style)]
        shown = len(lines) if style.detail else LINES_SHOWN
        yield from lines[:shown]
        if len(lines) > shown:
            yield f"{DEEP}{sign} ... (-v shows all)"


def shortened(text: str | None) -> str | None:
    """``text`` with the names that people use for the standard strings."""
    if text is not None and "basic_string<char, " in text:
        for spelled in STRINGS:
            text = text.replace(spelled, "std::string")
    return text


def _affected(change: Change, style: Style) -> str:
    count = f"{change.affected_count} export{'s' if change.affected_count > 1 else ''}"
    return f"affects {count}: {_names(change.affected, style)}"


def _names(symbols: Sequence[str], style: Style) -> str:
    """The first of ``symbols`` as a programmer calls them, and how many more there are; all with detail."""
    if style.detail:
        return ", ".join(map(_named, symbols))
    names = [
        name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 3]}..."
        for name in map(_named, symbols[:NAMES_SHOWN])
    ]
    more = len(symbols) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _named(symbol: str) -> str:
    return shortened(demangle(symbol)) or ""


def _consequences(consequences: Sequence[Change], style: Style) -> Iterator[str]:
    shown = len(consequences) if style.detail else CONSEQUENCES_SHOWN
    for change in consequences[:shown]:
        values = (
            f" {shortened(change.old_value)} -> {shortened(change.new_value)}" if change.old_value is not None else ""
        )
        yield from _wrapped(f"hence {change.kind}: {subject(change)}{values}", DEEP, style)
    if len(consequences) > shown:
        yield f"{DEEP}and {len(consequences) - shown} more consequences (-v shows all)"


def _unchecked(item: Unchecked, style: Style) -> Iterator[str]:
    side = "both sides" if item.side == "both" else f"the {item.side} side"
    reason = item.detail or item.reason
    yield from _wrapped(f"{item.facet} of {side}: {reason} ({item.reason})", "  ", style)
    if item.names:
        yield from _wrapped(_names(item.names, style), "      ", style)
    if item.hint:
        yield from _wrapped(f"hint: {item.hint}", "      ", style)


def _wrapped(text: str, indent: str, style: Style) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        style.width,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
