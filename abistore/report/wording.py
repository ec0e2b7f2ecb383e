"""The phrases that formats share: names, values, places, who is affected, and counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import without_arguments
from abistore.model.cpp_names.spelling import COMMENT_COLUMN
from abistore.model.words.counting import counted
from abistore.report.difference import COMMENT, difference
from abistore.report.model import ComparedDeclaration, Report, ReportedFinding, Summary, Unchecked

STRINGS = tuple(
    f"std::{inline}basic_string<char, std::char_traits<char>, std::allocator<char>>" for inline in ("__cxx11::", "")
)

SORTS = ("class", "enum", "enum class", "struct", "union")
MOST_SYMBOLS = 4
"""As many symbols one declaration has at most: constructors and destructors (Itanium C++ ABI, section 5.1.4.3)."""


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


def subject(change: ReportedFinding) -> str:
    """What changed, as a programmer calls it."""
    name = shortened(change.display) or ""
    return f"{name}: {change.part}" if change.part else name


def values(change: ReportedFinding) -> tuple[str, ...]:
    """The old and the new value: one where both are the same, none where the finding says them already.

    Of a declaration that came or went, what its name does not say: ``enum class``. Of several, which the affected
    exports are, nothing.
    """
    known = {None, change.symbol, change.display}
    if not {change.old_value, change.new_value} - known:
        return ()
    if None in (change.old_value, change.new_value):
        value = change.old_value or change.new_value or ""
        if change.part.endswith(f" {value}") or _lists_affected(change, value):
            return ()
        if value in {f"{sort} {change.display}" for sort in SORTS}:
            return (value.removesuffix(f" {change.display}"),)
    both = (change.old_value,) if change.old_value == change.new_value else (change.old_value, change.new_value)
    return tuple(value if value is not None else "(none)" for value in map(shortened, both))


def value_lines(change: ReportedFinding) -> list[str]:
    """The values in one line, and declarations of several lines by the lines in which they differ."""
    both = values(change)
    if not any("\n" in value for value in both):
        return [" -> ".join(both)] if both else []
    return differing(ComparedDeclaration(change.symbol, change.subject, change.old_value, change.new_value))


def differing(declared: ComparedDeclaration) -> list[str]:
    """The lines in which a declaration differs, each behind ``+``, ``-`` or ``!``, and a line around them."""
    return [f"{sign} {shortened(text)}".rstrip() for sign, text in difference(declared)]


def _lists_affected(change: ReportedFinding, value: str) -> bool:
    return not change.symbol and bool(change.affected) and value.startswith(demangle(change.affected[0]))


def by_itself(symbol: str, display: str, affected: tuple[str, ...]) -> bool:
    """Whether a change affects no export but the changed one, which may have several symbols."""
    if affected in {(), (symbol,)}:
        return True
    return len(affected) <= MOST_SYMBOLS and {demangle(each) for each in affected} == {display}


def affects(change: ReportedFinding) -> str:
    """How many exports the change affects; empty where it affects none but the changed one."""
    alone = by_itself(change.symbol, change.display, change.affected)
    return "" if alone else f"affects {counted(change.affected_count, 'export')}"


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


def location_of(change: ReportedFinding) -> str:
    """Where the declaration stands: its file, and the line where that is known; empty where nothing is."""
    where = place(change)
    return "" if where is None else where[0] if where[1] <= 0 else f"{where[0]}:{where[1]}"


def place(change: ReportedFinding) -> tuple[str, int] | None:
    """The file and line of the declaration; the line is 0 where only the file is known."""
    if change.source_location is None:
        return None
    file, _, line = change.source_location.rpartition(":")
    return file, int(line)


def ruled(change: ReportedFinding) -> str:
    """What a policy said about the change; empty where it said nothing."""
    return f"{change.default_impact} by default: {change.reason}" if change.default_impact else ""


def told(change: ReportedFinding) -> list[str]:
    """The change in lines of plain text, for formats that show it as one text."""
    lines = [text for text in (change.description, *value_lines(change), ruled(change)) if text]
    if affects(change):
        lines.append(f"{affects(change)}: {names(change.affected, 5)}")
    return [*lines, *(f"causes {text}" for text in consequences(change))]


def consequences(change: ReportedFinding) -> tuple[str, ...]:
    """The consequences of a change, each once and in one line; its own repetition for another symbol is left out."""
    told = dict.fromkeys(map(consequence, change.consequences))
    told.pop(consequence(change), None)
    return tuple(told)


def consequence(change: ReportedFinding) -> str:
    """A change in one line."""
    said = " -> ".join(" ".join(value.split()) for value in values(change))
    return f"{change.kind}: {subject(change)} {said}".rstrip()


def unchecked(item: Unchecked) -> str:
    """What was not checked and why, in one line."""
    side = "both sides" if item.side == "both" else f"the {item.side} side"
    return f"{item.facet} of {side}: {item.detail or item.reason}"


def notices(summary: Summary) -> int:
    """How many changes are notices, which have no part in the verdict."""
    return summary.total_changes - (summary.breaking + summary.api_breaks + summary.risk_changes + summary.compatible)


def counts(report: Report) -> str:
    """How many changes have each impact, how many are suppressed, and the exit code."""
    summary = report.summary
    found = (
        (summary.breaking, "breaking", "breaking"),
        (summary.api_breaks, "source break", ""),
        (summary.risk_changes, "risk", ""),
        (summary.compatible, "compatible", "compatible"),
        (notices(summary), "notice", ""),
        (report.suppressed_count, "suppressed", "suppressed"),
    )
    said = ", ".join(counted(*each) for each in found if each[0]) or "no changes"
    gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
    return f"{said}{gaps}; exit code {report.exit_code}"
