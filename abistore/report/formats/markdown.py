"""A report as Markdown (GitHub flavour), for pull requests, job summaries and release notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from abistore.model.counting import counted
from abistore.report.arrangements import HEADINGS, Declarations, KindGroup, Root, declarations, groups, impacts, roots
from abistore.report.difference import difference
from abistore.report.heading import REQUIRED, advice, by_suppression, ruled_by, stat, verdict
from abistore.report.model import Change, Declared, KindCard, Report
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

NAMES_SHOWN = 5
DIFFERENCES_SHOWN = 40
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
LISTED = re.compile(r"\A(\d*)([-+=.)])(?!\w)")
"""What begins a list or ends a heading where a line begins with it."""

LINKED = re.compile(r"[@#$]|://|www\.|\bGH-\d|\b[0-9a-f]{40}\b", re.IGNORECASE)
"""In a word that GitHub makes a link, a mention, a reference or a formula of, escaped or not; never in code."""
MARKS = {"breaking": "🔴", "api_break": "🟠", "risk": "🟣", "compatible": "🟢", "notice": "⚪"}


def render(report: Report, style: Style) -> str:
    """The report as Markdown, without a newline at its end."""
    if style.mode == "stat":
        return plain(stat(report))
    return "\n".join(_lines(report, style))


def _lines(report: Report, style: Style) -> Iterator[str]:
    yield f"## {plain(str(report.old))} → {plain(str(report.new))}: {plain(verdict(report))}"
    yield ""
    if report.error:
        yield from (f"🔴 **{REQUIRED}:** {plain(report.error)}.", "")
    if report.evidence_gap:
        yield from (f"🟡 **Not everything could be checked:** {plain(report.evidence_gap)}.", "")
    said = counts(report)
    yield f"{plain(said[0].upper() + said[1:])}."
    yield ""
    yield from _sides(report)
    yield from ("", f"Judged by {plain(ruled_by(report))}.")
    for each, text in advice(report):
        yield from ("", f"> **Advice** ({code(each.kind)}): {prose(text)}.")
    match style.mode:
        case "leaf":
            yield from _leaf(report, style)
        case "impact":
            yield from _impact(report, style)
        case _:
            yield from _full(report, style)
    yield from _ending(report, style)


def _sides(report: Report) -> Iterator[str]:
    yield "| | version | SONAME | exports | digest |"
    yield "|---|---|---|--:|---|"
    for label, side in (("old", report.old), ("new", report.new)):
        soname, version = (cell(text) if text else "none" for text in (side.soname, side.version))
        yield f"| {label} | {version} | {soname} | {side.exports} | {code(side.digest[:12])} |"


# --- by impact and kind -------------------------------------------------------------------------------------------


def _full(report: Report, style: Style) -> Iterator[str]:
    cards = {card.kind: card for card in report.kinds}
    pending = declarations(report)
    for group in groups(report):
        label = group.impact.label
        yield from ("", f"### {MARKS[label]} {HEADINGS[label]} ({group.total})")
        for kind in group.kinds:
            yield from ("", *_kind(kind, cards.get(kind.kind), pending, style))


def _kind(group: KindGroup, card: KindCard | None, pending: Declarations, style: Style) -> Iterator[str]:
    count = f" ({len(group.changes)})" if len(group.changes) > 1 else ""
    title = f": {prose(card.title)}" if card else ""
    yield f"**{code(group.kind)}**{count}{title}"
    if card and card.impact not in {"compatible", "notice"}:
        yield from ("", f"*Fix:* {prose(card.fix)}")
    yield ""
    shown = len(group.changes) if style.limit is None else style.limit
    for change in islice(group.changes, shown):
        yield from _change(change, pending.pop((change.subject, change.symbol), None), style)
    if len(group.changes) > shown:
        yield f"- and {len(group.changes) - shown} more"


def _change(change: Change, declared: Declared | None, style: Style) -> Iterator[str]:
    where = f" ({plain(location_of(change))})" if change.source_location else ""
    yield f"- {code(subject(change))}{where}: {plain(change.description)}"
    yield from _facts(change, style, drawn=declared is not None)
    if declared:
        yield from _compared(declared, "  ")


def _facts(change: Change, style: Style, *, affected: bool = True, drawn: bool = False) -> Iterator[str]:
    lines = value_lines(change)
    if len(lines) == 1:
        yield f"  - {' → '.join(map(code, values(change)))}"
    if ruled(change):
        yield f"  - {plain(ruled(change))}"
    if affected and affects(change):
        yield f"  - {affects(change)}: {_names(change.affected)}"
    told = consequences(change)
    shown = len(told) if style.limit is None else style.limit
    yield from (f"  - hence {code(text)}" for text in told[:shown])
    if len(told) > shown:
        yield f"  - and {counted(len(told) - shown, 'more consequence')}"
    if len(lines) > 1 and not drawn:
        yield from _differing(lines, "  ")


def _compared(declared: Declared, indent: str) -> Iterator[str]:
    return _differing([f"{sign} {shortened(text)}".rstrip() for sign, text in difference(declared)], indent)


def _differing(lines: Sequence[str], indent: str) -> Iterator[str]:
    told = [*lines[:DIFFERENCES_SHOWN], *(["  …"] if len(lines) > DIFFERENCES_SHOWN else [])]
    fence = "`" * max(3, 1 + longest_run("\n".join(told)))
    yield ""
    yield from (f"{indent}{line}" for line in (f"{fence}diff", *told, fence))


def _names(symbols: Sequence[str]) -> str:
    told, more = distinct(symbols, NAMES_SHOWN)
    names = ", ".join(code(name) + several(count) for name, count in told.items())
    return names + (f" and {more} more" if more else "")


# --- by declaration -----------------------------------------------------------------------------------------------


def _leaf(report: Report, style: Style) -> Iterator[str]:
    found = roots(report)
    shown = len(found) if style.limit is None else style.limit
    for root in found[:shown]:
        yield from ("", *_root(root, style))
    if len(found) > shown:
        yield from ("", f"and {counted(len(found) - shown, 'more declaration')}")


def _root(root: Root, style: Style) -> Iterator[str]:
    label = root.impact.label
    where = f" ({plain(root.location)})" if root.location else ""
    yield f"### {MARKS[label]} {code(shortened(root.display) or '')}{where}"
    yield ""
    if not by_itself(root.symbol, root.display, root.affected):
        yield from (f"Affects {counted(len(root.affected), 'export')}: {_names(root.affected)}", "")
    shown = len(root.changes) if style.limit is None else style.limit
    for change in root.changes[:shown]:
        part = f" {code(change.part)}" if change.part else ""
        yield f"- {code(change.kind)}{part}: {plain(change.description)}"
        yield from _facts(change, style, affected=False, drawn=root.declared is not None)
    if len(root.changes) > shown:
        yield f"- and {len(root.changes) - shown} more"
    if root.declared:
        yield from _compared(root.declared, "")


def _impact(report: Report, style: Style) -> Iterator[str]:
    rows = impacts(report)
    shown = len(rows) if style.limit is None else style.limit
    yield from ("", "| impact | exports affected | changed | through |", "|---|--:|---|---|")
    for root in rows[:shown]:
        label = root.impact.label
        kinds = ", ".join(cell(kind) for kind in dict.fromkeys(change.kind for change in root.changes))
        name = cell(shortened(root.display) or "")
        yield f"| {MARKS[label]} {plain(label)} | {len(root.affected)} | {name} | {kinds} |"
    if len(rows) > shown:
        yield from ("", f"and {len(rows) - shown} more")
    reached = {name for root in rows for name in root.affected}
    yield from ("", f"{counted(len(reached), 'export')} affected; the old side has {report.old.exports}.")


# --- the rest -----------------------------------------------------------------------------------------------------


def _ending(report: Report, style: Style) -> Iterator[str]:
    if report.suppressed:
        yield from ("", f"### Suppressed ({len(report.suppressed)})", "")
        for by, taken in by_suppression(report.suppressed).items():
            yield from _suppressed(by, taken, style)
    if report.not_checked:
        yield from ("", f"### Not checked ({len(report.not_checked)})", "")
        for item in report.not_checked:
            names = f": {_names(item.names)}" if item.names else ""
            yield f"- {plain(unchecked(item))} ({code(item.reason)}){names}"
            if item.hint:
                yield f"  - hint: {plain(item.hint)}"
    yield from (line for remark in report.notes for line in ("", f"> {plain(remark)}"))


def _suppressed(by: str, taken: Sequence[Change], style: Style) -> Iterator[str]:
    yield f"- by {plain(by)}"
    shown = len(taken) if style.limit is None else style.limit
    yield from (f"  - {code(change.kind)}: {code(subject(change))}" for change in taken[:shown])
    if len(taken) > shown:
        yield f"  - and {len(taken) - shown} more"


def plain(text: str) -> str:
    """``text`` so that Markdown shows it as it is, in one line; a word that would be linked is code."""
    words = (code(word) if LINKED.search(word) else _bare(word) for word in text.split())
    return LISTED.sub(r"\1\\\2", " ".join(words))


def _bare(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def prose(text: str) -> str:
    """``text`` in one line, with what stands between backticks as code."""
    parts = " ".join(text.split()).split("`")
    return "".join(code(part) if number % 2 else _bare(part) for number, part in enumerate(parts))


def cell(text: str) -> str:
    """``text`` as a code span within a table, where a bar needs a mark of its own."""
    return code(text.replace("\\|", "\\x7c")).replace("|", "\\|")  # readers differ about a backslash before a bar


def code(text: str) -> str:
    """``text`` as a code span in one line, with backticks inside or not."""
    flat = " ".join(text.split()) or " "
    fence = "`" * (1 + longest_run(flat))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def longest_run(text: str) -> int:
    """How many backticks stand in a row at most: what ends code has more."""
    return max(map(len, re.findall("`+", text)), default=0)


FORMAT = Format(render, suffix=".md", has_modes=True)
