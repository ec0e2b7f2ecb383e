"""Phrases that several formats share."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.model.demangle import demangle
from abistore.model.spelling import COMMENT_COLUMN
from abistore.report.difference import COMMENT
from abistore.report.outline import Change, Report, Unchecked

STRINGS = tuple(
    f"std::{inline}basic_string<char, std::char_traits<char>, std::allocator<char>>" for inline in ("__cxx11::", "")
)


def shortened(text: str | None) -> str | None:
    """``text`` with the names that people use for the standard strings."""
    if text is not None and "basic_string<char, " in text:
        for spelled in STRINGS:
            text = text.replace(spelled, "std::string")
        return "\n".join(map(_aligned, text.split("\n")))
    return text


def _aligned(line: str) -> str:
    """The line of a member with its comment where those of others are."""
    code, mark, comment = line.partition(COMMENT)
    if not (mark and line.startswith(" ")):
        return line
    return f"{code.rstrip().ljust(COMMENT_COLUMN - 1)}{COMMENT}{comment}"


def named(symbol: str) -> str:
    """A symbol as a programmer calls it."""
    return shortened(demangle(symbol)) or ""


def subject(change: Change) -> str:
    """What changed, as a programmer calls it."""
    name = shortened(change.display) or ""
    return f"{name}: {change.part}" if change.part else name


def values(change: Change) -> tuple[str, ...]:
    """The old and the new value; one where they are the same, none where they say no more than the name does."""
    if not {change.old_value, change.new_value} - {None, change.symbol, change.display}:
        return ()
    both = (change.old_value,) if change.old_value == change.new_value else (change.old_value, change.new_value)
    return tuple(value if value is not None else "(none)" for value in map(shortened, both))


def affects(change: Change) -> str:
    """How many exports meet the change; empty where that is the changed one alone, or none."""
    if not change.affected or change.affected == (change.symbol,):
        return ""
    return f"affects {exports(change.affected_count)}"


def exports(count: int) -> str:
    """``1 export``, ``2 exports``."""
    return f"{count} export{'' if count == 1 else 's'}"


def names(symbols: Sequence[str], most: int) -> str:
    """The first of ``symbols`` as a programmer calls them, and how many more there are."""
    more = len(symbols) - most
    return ", ".join(map(named, symbols[:most])) + (f" and {more} more" if more > 0 else "")


def place(change: Change) -> tuple[str, int] | None:
    """The file and line of the declaration; the line is 0 where only the file is known."""
    if change.source_location is None:
        return None
    file, _, line = change.source_location.rpartition(":")
    return file, int(line)


def ruled(change: Change) -> str:
    """What a policy said about the change; empty where it said nothing."""
    return f"{change.default_impact} by default: {change.reason}" if change.default_impact else ""


def told(change: Change) -> list[str]:
    """The change in plain lines, for formats that show it in one place."""
    lines = [text for text in (change.description, " -> ".join(values(change)), ruled(change)) if text]
    if affects(change):
        lines.append(f"{affects(change)}: {names(change.affected, 5)}")
    return [*lines, *(f"hence {consequence(each)}" for each in change.consequences)]


def consequence(change: Change) -> str:
    """A change that follows from another, in one line."""
    return f"{change.kind}: {subject(change)} {' -> '.join(values(change))}".rstrip()


def unchecked(item: Unchecked) -> str:
    """What was not checked and why, in one line."""
    side = "both sides" if item.side == "both" else f"the {item.side} side"
    return f"{item.facet} of {side}: {item.detail or item.reason}"


def counts(report: Report) -> str:
    """How many changes have each impact, how many are suppressed, and the exit code."""
    summary = report.summary
    weighty = summary.breaking + summary.api_breaks + summary.risk_changes + summary.compatible
    notices = summary.total_changes - weighty
    found = (
        (summary.breaking, "breaking"),
        (summary.api_breaks, "source break" if summary.api_breaks == 1 else "source breaks"),
        (summary.risk_changes, "risk" if summary.risk_changes == 1 else "risks"),
        (summary.compatible, "compatible"),
        (notices, "notice" if notices == 1 else "notices"),
        (report.suppressed_count, "suppressed"),
    )
    said = ", ".join(f"{count} {word}" for count, word in found if count) or "no changes"
    gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
    return f"{said}{gaps}; exit code {report.exit_code}"
