"""A report as one self-contained HTML page: filters, what each kind means, and records drawn before and after."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files
from itertools import chain
from typing import TypeAlias

from abistore.model.counting import counted
from abistore.model.names import Kind
from abistore.report.arrangements import HEADINGS, Declarations, Group, KindGroup, declarations, groups
from abistore.report.difference import difference
from abistore.report.drawing import drawing
from abistore.report.heading import CHECKED, REQUIRED, advice, extent, ruled_by, suppression, tone, verdict
from abistore.report.model import Change, Declared, KindCard, Report, SideCard
from abistore.report.registry import Format
from abistore.report.style import Style
from abistore.report.wording import (
    affects,
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

OPEN = 60
"""A kind with more changes than this is folded at first."""

NAMES_SHOWN = 30
WIDE = 100
"""Two values that are longer together stand one below the other."""

CONSEQUENCES_OPEN = 6
PARTIAL = "◐"
"""Before a verdict that does not cover everything, for who does not see its colour."""

Anchors: TypeAlias = dict[tuple[Kind, str], str]
"""The change that shows a declaration, by the declaration's subject and symbol."""


def render(report: Report, style: Style) -> str:
    """The report as a page, without a newline at its end. All changes are in it, whatever the style's limit."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(f'{report.old} → {report.new}: {verdict(report)}')}</title>"
    yield f"<style>\n{_asset('page.css')}</style></head>"
    yield "<body>"
    yield from _head(report)
    found = groups(report)
    if found:
        yield from _filters(found)
        yield "<main>"
        cards = {card.kind: card for card in report.kinds}
        pending = declarations(report)
        anchors = _anchors(report, pending)
        yield from chain.from_iterable(_group(group, cards, pending, anchors) for group in found)
        yield "</main>"
    yield from _ending(report)
    if found:
        yield f"<script>\n{_asset('page.js')}</script>"
    yield "</body></html>"


def _asset(name: str) -> str:
    return files("abistore.report").joinpath("page", name).read_text(encoding="utf-8")


def code(text: str) -> str:
    """``text`` as code, escaped."""
    return f"<code>{escape(text)}</code>"


def prose(text: str) -> str:
    """``text`` escaped, with what stands between backticks as code."""
    parts = text.split("`")
    return "".join(code(part) if number % 2 else escape(part) for number, part in enumerate(parts))


# --- head ---------------------------------------------------------------------------------------------------------


def _head(report: Report) -> Iterator[str]:
    yield f"<header><h1>{escape(str(report.old))} <i>→</i> {escape(str(report.new))}</h1>"
    name = report.verdict.replace("_", " ").capitalize()
    said = f"{PARTIAL} {name} {CHECKED}" if report.evidence_gap else name
    yield f'<p class="counts"><span class="verdict {tone(report)}">{said}</span> · {counts(report)}</p>'
    if report.error:
        yield f'<p class="gap breaking">{REQUIRED}: {escape(report.error)}</p>'
    if report.evidence_gap:
        yield f'<p class="gap unchecked">Not everything could be checked: {escape(report.evidence_gap)}</p>'
    yield from _advice(report)
    yield '<table class="sides"><tr><th></th><th>SONAME</th><th>exports</th><th>evidence</th>'
    yield '<th class="wide">digest</th></tr>'
    yield from (_side(label, side) for label, side in (("old", report.old), ("new", report.new)))
    yield f'</table><p class="aside">{escape(report.new.target)}, {escape(ruled_by(report))}</p></header>'


def _advice(report: Report) -> Iterator[str]:
    for each, text in advice(report):
        yield f'<p class="advice"><b>Advice</b> {prose(text)} <span class="aside">{code(each.kind)}</span></p>'


def _side(label: str, side: SideCard) -> str:
    evidence = ", ".join(map(extent, side.evidence))
    return (
        f"<tr><td>{label}</td><td>{code(side.soname or 'none')}</td><td>{side.exports}</td>"
        f"<td>{escape(evidence)}</td>"
        f'<td class="wide">{code(side.digest[:12])}</td></tr>'
    )


def _filters(found: tuple[Group, ...]) -> Iterator[str]:
    yield '<div class="filters" role="search">'
    yield '<input id="text" type="search" placeholder="Filter by name, kind or text" aria-label="Filter by text">'
    yield '<select id="kind" aria-label="Filter by kind"><option value="">all kinds</option>'
    kinds = sorted({kind.kind for group in found for kind in group.kinds})
    yield from (f'<option value="{escape(kind)}">{escape(kind)}</option>' for kind in kinds)
    yield "</select>"
    for group in found:
        label = group.impact.label
        yield (
            f'<button type="button" class="{label}" value="{label}" aria-pressed="true">'
            f"{HEADINGS[label]} {group.total}</button>"
        )
    yield "<output></output></div>"


# --- changes ------------------------------------------------------------------------------------------------------


def _anchors(report: Report, pending: Declarations) -> Anchors:
    """The first change of each declaration in the order of the page; it is the one that shows the declaration."""
    ordered = (change for group in groups(report) for kind in group.kinds for change in kind.changes)
    found: Anchors = {}
    for change in ordered:
        if (change.subject, change.symbol) in pending:
            found.setdefault((change.subject, change.symbol), change.id)
    return found


def _group(group: Group, cards: dict[str, KindCard], pending: Declarations, anchors: Anchors) -> Iterator[str]:
    label = group.impact.label
    yield f'<section class="impact {label}"><h2>{HEADINGS[label]} <span>{group.total}</span></h2>'
    for kind in group.kinds:
        yield from _heading(kind, label, cards.get(kind.kind))
        for change in kind.changes:
            key = (change.subject, change.symbol)
            yield _change(change, pending.get(key), anchors.get(key))
        yield "</details>"
    yield "</section>"


def _heading(group: KindGroup, label: str, card: KindCard | None) -> Iterator[str]:
    opened = " open" if len(group.changes) <= OPEN else ""
    yield f'<details class="kind" data-kind="{escape(group.kind)}" data-impact="{label}"{opened}>'
    title = f" {prose(card.title.removesuffix('.'))}" if card else ""
    count = f' <span class="count">{len(group.changes)}</span>' if len(group.changes) > 1 else ""
    yield f"<summary>{code(group.kind)}{count}{title}</summary>"
    if card:
        yield f'<div class="meaning"><p>{prose(card.why)}</p><p>Fix: {prose(card.fix)}</p></div>'


def _change(change: Change, declared: Declared | None, anchor: str | None) -> str:
    where = f'<span class="where">{escape(location_of(change))}</span>' if change.source_location else ""
    return "".join(
        (
            f'<div class="change" id="{escape(change.id)}"><p class="name">{_subject(change)}{where}',
            f'<a class="where" href="#{escape(change.id)}">{escape(change.id)}</a></p>',
            f"<p>{escape(change.description)}</p>",
            _values(change, drawn=declared is not None),
            f'<p class="aside">{escape(ruled(change))}</p>' if ruled(change) else "",
            _affected(change),
            _consequences(change),
            _declared(declared, change, anchor) if declared and anchor else "",
            "</div>",
        )
    )


def _subject(change: Change) -> str:
    name = code(shortened(change.display) or "")
    return f"{name} · {code(change.part)}" if change.part else name


def _values(change: Change, drawn: bool) -> str:
    both, lines = values(change), value_lines(change)
    if len(lines) > 1:
        return "" if drawn else f"<pre>{''.join(_line(line[:1], line[2:]) for line in lines)}</pre>"
    if sum(map(len, both)) > WIDE:
        return f"<pre>{''.join(_line(sign, value) for sign, value in zip('-+', both, strict=False))}</pre>"
    return f'<p class="values">{"<i>→</i>".join(map(code, both))}</p>' if both else ""


def _affected(change: Change) -> str:
    if not affects(change):
        return ""
    told, more = distinct(change.affected, NAMES_SHOWN)
    rest = f"<li>and {more} more, all in the JSON report</li>" if more else ""
    names = "".join(f"<li>{code(name)}{several(count)}</li>" for name, count in told.items())
    return f'<details class="aside"><summary>{affects(change)}</summary><ul class="names">{names}{rest}</ul></details>'


def _consequences(change: Change) -> str:
    told = consequences(change)
    if not told:
        return ""
    items = "".join(f"<li>{code(text)}</li>" for text in told)
    opened = " open" if len(told) <= CONSEQUENCES_OPEN else ""
    said = counted(len(told), "consequence")
    return f'<details class="aside"{opened}><summary>{said}</summary><ul>{items}</ul></details>'


def _declared(declared: Declared, change: Change, anchor: str) -> str:
    if change.id != anchor:
        return f'<p class="aside"><a href="#{escape(anchor)}">before and after</a></p>'
    lines = "".join(_line(sign, shortened(text) or "") for sign, text in difference(declared))
    drawn = drawing(declared)
    if not drawn:
        return f"<pre>{lines}</pre>"
    return f'{drawn}<details class="aside"><summary>declaration</summary><pre>{lines}</pre></details>'


def _line(sign: str, text: str) -> str:
    tag = {"-": "del", "+": "ins", "!": "em"}.get(sign)
    line = escape(f"{sign} {text}".rstrip())
    return f"<{tag}>{line}</{tag}>" if tag else f"{line}\n"


# --- the rest -----------------------------------------------------------------------------------------------------


def _ending(report: Report) -> Iterator[str]:
    if report.not_checked:
        yield f"<section><h2>Not checked <span>{len(report.not_checked)}</span></h2>"
        yield '<ul class="plain">'
        for item in report.not_checked:
            hint = f"<small>{escape(item.hint)}</small>" if item.hint else ""
            told, more = distinct(item.names, NAMES_SHOWN)
            names = ", ".join(code(name) + several(count) for name, count in told.items())
            listed = f"<small>{names}{f' and {more} more' if more else ''}</small>" if names else ""
            yield f"<li>{escape(unchecked(item))}{hint}{listed}</li>"
        yield "</ul></section>"
    if report.suppressed:
        yield f"<section><h2>Suppressed <span>{len(report.suppressed)}</span></h2>"
        yield '<ul class="plain">'
        for each in report.suppressed:
            yield f"<li>{code(each.kind)} {code(subject(each))}<small>by {escape(suppression(each))}</small></li>"
        yield "</ul></section>"
    yield from (f'<p class="aside">{escape(remark)}</p>' for remark in report.notes)
    digests = " → ".join(escape(side.digest) for side in (report.old, report.new))
    yield f"<footer>abistore · engine {escape(report.engine)} · {digests}</footer>"


FORMAT = Format(render, suffix=".html")
