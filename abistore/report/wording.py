"""The phrases that formats share: names, values, places, who is affected, and counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from abistore.model.cpp_names.definitions import COMMENT_COLUMN
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity, without_arguments
from abistore.model.names import UNNAMED_ENUM
from abistore.model.words.counting import counted, listed
from abistore.report.difference import COMMENT, difference
from abistore.report.model import (
    ComparedDeclaration,
    Report,
    ReportedApproval,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
)

STRINGS = tuple(
    f"std::{inline}basic_string<char, std::char_traits<char>, std::allocator<char>>" for inline in ("__cxx11::", "")
)

SORTS = ("class", "enum", "enum class", "struct", "union")
MOST_SYMBOLS = 4
"""The most symbols that one constructor or destructor has (Itanium C++ ABI, section 5.1.4.3)."""


def shortened(text: str | None) -> str | None:
    """``text`` with ``std::string`` in place of the template that it is an alias of."""
    if text is not None and "basic_string<char, " in text:
        for spelled in STRINGS:
            text = text.replace(spelled, "std::string")
        return "\n".join(map(_aligned, text.split("\n")))
    return text


def lengthened(text: str) -> tuple[str, ...]:
    """``text`` and the spellings from which :func:`shortened` may have made it."""
    return tuple(dict.fromkeys((text, *(re.sub(r"\bstd::string\b", spelled, text) for spelled in STRINGS))))


def _aligned(line: str) -> str:
    """A member's line, its comment moved back to the column of the other comments."""
    code, mark, comment = line.partition(COMMENT)
    if not (mark and line.startswith(" ")):
        return line
    return f"{code.rstrip().ljust(COMMENT_COLUMN - 1)}{COMMENT}{comment}"


def named(symbol: str) -> str:
    """A symbol as a programmer calls it."""
    return shortened(demangle(symbol)) or ""


def subject(finding: ReportedFinding) -> str:
    """What changed, as a programmer calls it."""
    name = shortened(finding.display) or ""
    before, unnamed, first = name.partition(UNNAMED_ENUM)
    if unnamed and first == f"{finding.part})":
        return f"{before}{finding.part}"  # a constant, or the first value of an enumeration without a name
    return f"{name}: {finding.part}" if finding.part else name


def values(finding: ReportedFinding) -> tuple[str, ...]:
    """The old and the new value; one if both are equal, none if the finding says them already.

    For a declaration that was added or removed, only what its name does not say: ``enum class``. For several exports
    at once nothing, as the affected exports list them.
    """
    known = {None, finding.symbol, finding.display}
    if not {finding.old_value, finding.new_value} - known:
        return ()
    if None in (finding.old_value, finding.new_value):
        value = finding.old_value or finding.new_value or ""
        if finding.part.endswith(f" {value}") or _lists_affected(finding, value):
            return ()
        if value in {f"{sort} {finding.display}" for sort in SORTS}:
            return (value.removesuffix(f" {finding.display}"),)
    both = (finding.old_value,) if finding.old_value == finding.new_value else (finding.old_value, finding.new_value)
    return tuple(value if value is not None else "(none)" for value in map(shortened, both))


def value_lines(finding: ReportedFinding) -> list[str]:
    """The values in one line; of declarations with several lines, the lines that differ."""
    both = values(finding)
    if not any("\n" in value for value in both):
        return [" -> ".join(both)] if both else []
    return differing(ComparedDeclaration(finding.symbol, finding.subject, finding.old_value, finding.new_value))


def differing(declared: ComparedDeclaration) -> list[str]:
    """The lines of a declaration that differ, each behind ``+``, ``-`` or ``!``, with one line of context."""
    return [f"{sign} {shortened(text)}".rstrip() for sign, text in difference(declared)]


def _lists_affected(finding: ReportedFinding, value: str) -> bool:
    return not finding.symbol and bool(finding.affected) and value.startswith(demangle(finding.affected[0]))


def by_itself(symbol: str, display: str, affected: tuple[str, ...]) -> bool:
    """Whether a change affects only the changed export, which may have several symbols."""
    if affected in {(), (symbol,)}:
        return True
    return len(affected) <= MOST_SYMBOLS and {demangle(each) for each in affected} == {display}


SAME_EXPORTS = "affects the same exports"
"""Of a finding behind another one about the same declaration, which names them."""


def affects(finding: ReportedFinding) -> str:
    """How many exports a finding affects; empty if only the changed one."""
    alone = by_itself(finding.symbol, finding.display, finding.affected)
    return "" if alone else f"affects {counted(finding.affected_count, 'export')}"


def distinct(symbols: Sequence[str], most: int | None, width: int | None = None) -> tuple[dict[str, int], int]:
    """The first names of ``symbols``, demangled, each with its number of symbols; and how many symbols are left out.

    A constructor is exported as two symbols, a destructor as three: each is one name. So are instances of a template
    whose names are the same in ``width`` columns.
    """
    told: Counter[str] = Counter()
    for symbol in symbols:
        name = abbreviated(named(symbol), width)
        if name not in told and len(told) == most:
            break
        told[name] += 1
    return told, len(symbols) - told.total()


def abbreviated(name: str, width: int | None) -> str:
    """``name`` in ``width`` columns: without its outermost template arguments, then without its end."""
    if width is None or len(name) <= width:
        return name
    short = without_arguments(name)
    return short if len(short) <= width else f"{short[: width - 3].rstrip('<.,:(&* ')}..."


def several(count: int) -> str:
    """What follows a name that ``count`` symbols share; empty for one."""
    return f" ({count} symbols)" if count > 1 else ""


def names(symbols: Sequence[str], most: int | None, width: int | None = None, mark: Callable[[str], str] = str) -> str:
    """The first of ``symbols`` as a programmer calls them, each marked, and how many more there are."""
    told, more = distinct(symbols, most, width)
    texts = (mark(name) + several(count) for name, count in told.items())
    return ", ".join(texts) + (f" and {more} more" if more else "")


def location_of(finding: ReportedFinding) -> str:
    """Where the declaration stands: its file, and the line where that is known; empty where nothing is."""
    where = place(finding)
    return "" if where is None else where[0] if where[1] <= 0 else f"{where[0]}:{where[1]}"


def place(finding: ReportedFinding) -> tuple[str, int] | None:
    """The file and line of the declaration; the line is 0 if only the file is known."""
    if finding.source_location is None:
        return None
    file, _, line = finding.source_location.rpartition(":")
    return file, int(line)


def overridden(finding: ReportedFinding) -> str:
    """How a policy changed the impact, and why; empty if it did not."""
    return f"{finding.default_impact} by default: {finding.reason}" if finding.default_impact else ""


def told(finding: ReportedFinding) -> list[str]:
    """A finding in lines of plain text, for formats that show it as one text."""
    lines = [text for text in (finding.description, *value_lines(finding), overridden(finding)) if text]
    if affects(finding):
        lines.append(f"{affects(finding)}: {names(finding.affected, 5)}")
    return [*lines, *said_of(finding), *(f"causes {text}" for text in consequences(finding))]


def consequences(finding: ReportedFinding) -> tuple[str, ...]:
    """The consequences of a finding, each once and in one line, without the finding itself for another symbol."""
    instances = [each for each in finding.consequences if _other_instance(each, finding)]
    told = dict.fromkeys(consequence(each) for each in finding.consequences if each not in instances)
    told.pop(consequence(finding), None)
    others = ", ".join(dict.fromkeys(shortened(each.display) or "" for each in instances))
    return (*((f"the same in other instances of the template: {others}",) if others else ()), *told)


def _other_instance(found: ReportedFinding, finding: ReportedFinding) -> bool:
    """Whether the same is found about another instance of the template."""
    alike = (found.kind, found.part) == (finding.kind, finding.part) and found.display != finding.display
    return alike and "<" in found.display and _template(found.display) == _template(finding.display)


def _template(display: str) -> str:
    return without_arguments(entity(display))


def consequence(finding: ReportedFinding) -> str:
    """A finding in one line."""
    said = " -> ".join(" ".join(value.split()) for value in values(finding))
    return f"{finding.kind}: {subject(finding)} {said}".rstrip()


def unchecked(item: ReportedNotChecked) -> str:
    """What was not checked and why, in one line."""
    side = "both sides" if item.side == "both" else f"the {item.side} side"
    return f"{item.facet} of {side}: {item.detail or item.reason}"


def notices(summary: Summary) -> int:
    """How many findings are notices, which have no part in the verdict."""
    return summary.total_changes - (summary.breaking + summary.api_breaks + summary.risk_changes + summary.compatible)


def numbers(summary: Summary) -> str:
    """How many findings have each impact, worst first; empty if there are none."""
    found = (
        (summary.breaking, "breaking", "breaking"),
        (summary.api_breaks, "source break", ""),
        (summary.risk_changes, "risk", ""),
        (summary.compatible, "compatible", "compatible"),
        (notices(summary), "notice", ""),
    )
    return ", ".join(counted(*each) for each in found if each[0])


def counts(report: Report) -> str:
    """How many findings have each impact, how many are suppressed, and the exit code."""
    suppressed = f"{report.suppressed_count} suppressed" if report.suppressed_count else ""
    said = ", ".join(filter(None, (numbers(report.summary), suppressed))) or "no changes"
    gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
    return f"{said}{gaps}; exit code {report.exit_code}"


def approval(said: ReportedApproval) -> str:
    """Who approved, for what and until when, and why: ``by ana until 2026-12-31 (LIB-7): nobody calls it``."""
    word, _, last = said.until.partition(":")
    until = {"date": f" until {last}", "version": f" up to {last}", "soname": f" while the SONAME is {last}"}
    scope = "" if said.scope == "forever" else f" for {said.scope.replace(':', ' ', 1)}"
    ticket = f" ({said.ticket})" if said.ticket else ""
    origin = f" [from {said.origin}]" if said.origin else ""
    return f"by {said.approver}{scope}{until.get(word, '')}{ticket}: {said.reason}{origin}"


def said_of(finding: ReportedFinding) -> tuple[str, ...]:
    """What is known of a finding beside the libraries: whom it hurts, that it is approved, or no longer, its review."""
    review = finding.review
    told = (
        f"hurts {listed(finding.consumers)}" if finding.consumers else "",
        f"approved {approval(finding.approved)}" if finding.approved else "",
        finding.unapproved,
        f"review: {review.state} by {review.actor}{f': {review.note}' if review.note else ''}" if review else "",
    )
    return tuple(filter(None, told))
