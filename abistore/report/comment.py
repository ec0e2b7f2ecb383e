"""A report as a comment on a pull request: Markdown that is whole however short it has to be."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from abistore.model.findings import Side
from abistore.model.words import counted, visible
from abistore.report.document import HEADINGS, cut, declarations, finding_block
from abistore.report.formats.markdown import (
    MARKS,
    NAMES_SHOWN,
    OUTCOME_MARKS,
    code,
    fenced,
    plain,
    prose,
)
from abistore.report.model import ComparedDeclaration, Report, ReportedFinding, legible
from abistore.report.outline import advice, by_suppression, ruled_by, verdict, with_short_paths
from abistore.report.reasons import said, short_ways
from abistore.report.wording import differing, found_counts, names, notices, unchecked

ROOM = 8_000
"""How many bytes a comment has, if nothing else is said. GitHub refuses one of more than 65,536 characters."""

BREAKS = ("breaking", "api_break")
MOST_GAPS = 8
"""How many gaps, notes and suppressions are listed."""

LONGEST_LINE = 400
"""The middle of a longer text is left out, such as of a name with many template arguments."""

MOST_VALUES = 160
"""Longer values are left out: the diff has them."""

MOST_DIFF = 40
"""A longer diff is left out: its end would be cut, and it is what a reader has the headers for."""


class Comment(msgspec.Struct, frozen=True):
    """A comment, and what it leaves out for want of room: ``breaks`` only where the names of all do not fit."""

    text: str
    breaks: int = 0
    risks: int = 0
    diffs: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out but compatible changes."""
        return not (self.breaks or self.risks or self.diffs)


class _Entry(msgspec.Struct, frozen=True):
    """A finding in a list: in one line, and the diff of its declaration where it is the first about it."""

    impact: str
    line: str
    name: str
    diff: tuple[str, ...] = ()


def comment(report: Report, *, rest: str = "", room: int = ROOM, items: int | None = None) -> Comment:
    """The report as a comment of at most ``room`` bytes, and of at most ``items`` findings of each impact.

    The decision, every break by name, what was not checked and how to pass come first. Risks have no diffs; they are
    left out before the diffs of breaks, and these before a break. The last line says how many of each. ``rest`` says in
    Markdown where all of it is read.
    """
    report = with_short_paths(legible(report, LONGEST_LINE))
    head, tail = tuple(_head(report)), tuple(_tail(report))
    entries = tuple(_entries(report))
    breaks = [each for each in entries if each.impact in BREAKS][:items]
    risks = [each for each in entries if each.impact == "risk"][:items]
    left = room - _size((*head, *tail, *HEADINGS.values(), _last(report, rest, Comment("", *[99_999] * 3))))
    if _size(each.line for each in breaks) > left:
        breaks = [msgspec.structs.replace(each, line=f"- {each.name}", diff=()) for each in breaks]
    breaks, left = _fitting(breaks, left)
    diffs = _diffs(breaks, left)
    risks, _ = _fitting(risks, left - _size(line for each in diffs for line in each.diff))
    told = Comment(
        "",
        sum(each.impact in BREAKS for each in entries) - len(breaks),
        sum(each.impact == "risk" for each in entries) - len(risks),
        sum(bool(each.diff) for each in entries if each.impact in BREAKS) - len(diffs),
    )
    lists = _lists(report, [*breaks, *risks], diffs)
    text = "\n".join((*head, *lists, *tail, "", _last(report, rest, told)))
    return msgspec.structs.replace(told, text=visible(text))


def rest_of(report: Report, new: str = "") -> str:
    """The command that tells all of a report, as Markdown; ``new`` is the path of a file on its new side."""
    words = ("abistore", "compare", _operand(report.old), new or _operand(report.new), "--full")
    return f"All of it: {code(shlex.join(words))}."


def _operand(side: Side) -> str:
    return f"{side.library}@{side.version}" if side.version else side.file or side.library


def _size(lines: Iterable[str]) -> int:
    return sum(len(visible(line).encode()) + 1 for line in lines)


def _fitting(entries: Sequence[_Entry], room: int) -> tuple[list[_Entry], int]:
    """The first entries whose lines fit, and the room that they leave."""
    ends = list(accumulate(_size((each.line,)) for each in entries))
    count = sum(end <= room for end in ends)
    return list(entries[:count]), room - (ends[count - 1] if count else 0)


def _diffs(entries: Sequence[_Entry], room: int) -> frozenset[_Entry]:
    """The entries whose diffs fit, the worst first."""
    chosen = set()
    for each in entries:
        size = _size(each.diff)
        if each.diff and size <= room:
            chosen.add(each)
            room -= size
    return frozenset(chosen)


# --- findings -----------------------------------------------------------------------------------------------------


def _entries(report: Report) -> Iterator[_Entry]:
    pending = declarations(report)
    for finding in report.changes:
        if finding.impact in (*BREAKS, "risk"):
            declared = pending.pop((finding.subject, finding.symbol), None)
            yield _entry(finding, declared)


def _entry(finding: ReportedFinding, declared: ComparedDeclaration | None) -> _Entry:
    block = finding_block(finding)
    both = " → ".join(map(code, block.values))
    values = f" ({both})" if 0 < len(both) <= MOST_VALUES else ""
    reach = f"; {block.affects}: {names(finding.affected, NAMES_SHOWN, mark=code)}" if block.affects else ""
    more = "".join(f"; {plain(text)}" for text in block.said)
    name = code(block.subject)
    line = f"- {name}: {plain(finding.description)}{values}{reach}{more}"
    lines = differing(declared) if declared is not None and declared.before and declared.after else []
    return _Entry(finding.impact, line, name, tuple(fenced(lines, "  ")) if 0 < len(lines) <= MOST_DIFF else ())


def _lists(report: Report, entries: Sequence[_Entry], diffs: frozenset[_Entry]) -> Iterator[str]:
    totals = {each: sum(one.impact == each for one in report.changes) for each in (*BREAKS, "risk")}
    for impact, total in totals.items():
        shown = [each for each in entries if each.impact == impact]
        if not shown:
            continue
        yield from ("", f"### {MARKS[impact]} {HEADINGS[impact]} ({total})", "")
        for each in shown:
            yield each.line
            yield from each.diff if each in diffs else ()


# --- above and below the findings ---------------------------------------------------------------------------------


def _head(report: Report) -> Iterator[str]:
    yield f"## {plain(str(report.old))} → {plain(str(report.new))}: {plain(verdict(report))}"
    decision = report.decision
    mark = OUTCOME_MARKS[decision.outcome] if decision is not None else ""
    told = said(report) or ((decision.headline,) if decision is not None else ())
    yield from (line for each in told for line in ("", f"{mark} **{plain(each)}.**"))
    promise = decision.promise.sentence if decision is not None and decision.promise is not None else ""
    if promise and not any(promise in each for each in told):
        yield from ("", f"{plain(promise)}.")
    for text in (report.error, report.evidence_gap, report.guessed):
        if text:
            yield from ("", f"🟡 {plain(text)}.")
    counts = found_counts(report)
    yield from ("", f"{plain(counts[0].upper() + counts[1:])}.")
    for each, text in advice(report):
        yield from ("", f"> **Advice** ({code(each.kind)}): {prose(text)}.")


def _tail(report: Report) -> Iterator[str]:
    if report.suppressed:
        yield ""
        told = [f"{counted(len(taken), 'finding')} by {by}" for by, taken in by_suppression(report.suppressed).items()]
        yield from (f"Suppressed: {plain(each)}." for each in told[:MOST_GAPS])
    if report.not_checked:
        shown, more = cut(report.not_checked, MOST_GAPS)
        yield from ("", f"### Not checked ({len(report.not_checked)})", "")
        yield from (f"- {plain(unchecked(each))}" for each in shown)
        yield from (f"- and {more} more",) if more else ()
    yield from (line for note in report.notes[:MOST_GAPS] for line in ("", f"> {plain(note)}"))
    if report.decision is not None and report.decision.ways:
        ways = (f"- {prose(each.sentence)}" for each in short_ways(report.decision))
        yield from ("", "To pass, do one of these:", "", *ways)


def _last(report: Report, rest: str, told: Comment) -> str:
    """What is left out, and where all of it is read."""
    compatible = report.summary.compatible + notices(report.summary)
    left = (
        counted(told.breaks, "break") if told.breaks else "",
        counted(told.risks, "risk") if told.risks else "",
        counted(told.diffs, "diff") if told.diffs else "",
        counted(compatible, "compatible change") if compatible else "",
    )
    listed = ", ".join(filter(None, left))
    return " ".join(
        filter(None, (f"Left out: {listed}." if listed else "", f"Judged by {plain(ruled_by(report))}.", rest))
    )
