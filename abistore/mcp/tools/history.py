"""``abi_history`` and ``abi_symbol_history``: releases with their verdicts, and the life of one declaration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec

from abistore.arguments import LoggedName
from abistore.interface import (
    BaselineMove,
    Decision,
    HistoryRow,
    LineKey,
    LoggedEvent,
    OpenStore,
    Verdict,
    baseline_history,
    history,
    log,
    logged_events,
)
from abistore.mcp.answers import Answer, BumpItem, NextCall, asking, brief, bump_of
from abistore.mcp.operands import Call, line_of
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.declaration import Cursor, Library, Limit, Line, SomeLibrary, described, tool
from abistore.model.words import counted

BUDGET = 800
MOST_MOVES = 5
MOST_REMARKS = 4
BREAKS = frozenset({Verdict.API_BREAK, Verdict.BREAKING})

Trend: TypeAlias = Literal["improved", "regressed", "unchanged", "incomparable"]


class HistoryItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A release beside the one before it (``from``) and beside the baseline.

    ``added`` and ``removed`` count exports, ``changed`` declarations. ``not_checked`` says what a verdict leaves out,
    ``reason`` why there is none. ``approved`` says who accepted the breaks of a verdict, which stays: a gate passes.
    ``trend`` compares the verdict with that of the release before. A release that is tagged ``withdrawn`` is passed
    over: the next one is not compared with it.
    """

    version: str
    released_at: str
    previous: str | None = msgspec.field(name="from")
    verdict: str | None
    exit_code: int | None
    outcome: str = ""
    comparable: bool
    against_baseline: str | None = None
    added: int = 0
    removed: int = 0
    changed: int = 0
    not_checked: str = ""
    reason: str = ""
    bump: BumpItem | None = None
    trend: Trend | None = None
    approved: str = ""
    approved_baseline: str = ""
    tags: tuple[str, ...] = ()


class MoveItem(msgspec.Struct, frozen=True, kw_only=True):
    """Who put a channel's baseline at a version (``null``: nowhere), when, and why."""

    channel: str
    version: str | None
    moved: str
    by: str
    reason: str


class HistoryAnswer(Answer, frozen=True, kw_only=True):
    """A page of a library's releases, oldest first; ``first_break`` is the first that broke the one before it.

    ``baseline_moves`` are the last few, oldest first. The first page has ``remarks``, what no single verdict tells:
    exports that came after the baseline and are gone. ``pending`` says what the next release must be, where builds
    stand after the last one.
    """

    library: str
    line: str
    current_baseline: str | None
    first_break: str | None
    rows: tuple[HistoryItem, ...]
    total: int
    returned: int
    baseline_moves: tuple[MoveItem, ...] = ()
    remarks: tuple[str, ...] = ()
    pending: str = ""
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


@tool("History of a library")
def abi_history(
    call: Call,
    *,
    library: Library,
    line: Line = None,
    since: Annotated[str | None, described("First version")] = None,
    until: Annotated[str | None, described("Last version")] = None,
    delta: Annotated[bool, described("Compare with the verdict before")] = False,
    moves: Annotated[bool, described("List who moved baselines, and why")] = False,
    cursor: Cursor = None,
    limit: Limit = None,
) -> HistoryAnswer:
    """Show every release of a library, oldest first, with its verdict against the one before and the baseline.

    Use it to find which release broke first; abi_symbol_history is for one declaration.
    Example: library="libfoo", since="1.0", delta=true.
    """
    with call.store() as store:
        chosen = line_of(store, library, line)
        (found,) = history(library, **chosen.words, progress=call.progress, database=store)
        moved = _moves(store, found.line) if moves else ()
    rows = _between(found.rows, since, until)
    items = [_item(row, before if delta else None) for before, row in zip((None, *rows), rows, strict=False)]
    page = call.page(items, budget=BUDGET)
    broken = next((row for row in rows if row.verdict in BREAKS), None)
    return HistoryAnswer(
        headline=_headline(library, rows, broken),
        library=library,
        line=f"{chosen.target}/{chosen.profile}",
        current_baseline=found.baseline,
        first_break=broken.release.version if broken else None,
        rows=page.items,
        total=len(items),
        returned=len(page.items),
        baseline_moves=moved,
        remarks=() if cursor else _remarks(library, found.remarks),
        pending="" if cursor else brief(found.pending, 240),
        next_cursor=page.next_cursor,
        next=(*page.more, *_next(library, broken)),
    )


def _moves(store: OpenStore, line: LineKey) -> tuple[MoveItem, ...]:
    every = [move for move in baseline_history(line.library, database=store) if move.line == line]
    return tuple(map(_move, every[-MOST_MOVES:]))


def _remarks(library: str, said: Sequence[str]) -> tuple[str, ...]:
    """The latest remarks, and where the others stand."""
    told = tuple(brief(each, 240) for each in said[-MOST_REMARKS:])
    left = len(said) - len(told)
    return (*told, f"{left} more: abistore://libraries/{library}/history") if left else told


def _move(move: BaselineMove) -> MoveItem:
    return MoveItem(
        channel=brief(move.channel, 80),
        version=move.version,
        moved=f"{move.moved:%Y-%m-%d}",
        by=brief(move.actor, 80),
        reason=brief(move.reason, 160),
    )


def _headline(library: str, rows: tuple[HistoryRow, ...], broken: HistoryRow | None) -> str:
    breaks = [row for row in rows if row.verdict in BREAKS]
    if broken is None or broken.verdict is None:
        return f"NO BREAK in {counted(len(rows), 'release')} of {library}, each against its previous release"
    first = f"first {broken.verdict.name} in {broken.release.version}"
    return f"{counted(len(breaks), 'BREAK')} in {counted(len(rows), 'release')} of {library}; {first}"


def _next(library: str, broken: HistoryRow | None) -> tuple[NextCall, ...]:
    if broken is None:
        return (asking("abi_summary", "Read the verdict about the latest release.", library=library),)
    say = "Read what broke in the first release that breaks."
    return (asking("abi_summary", say, library=library, version=broken.release.version, against="prev"),)


def _between(rows: tuple[HistoryRow, ...], since: str | None, until: str | None) -> tuple[HistoryRow, ...]:
    versions = [row.release.version for row in rows]
    for version in (since, until):
        if version is not None and version not in versions:
            raise Refusal(
                "NOT_FOUND", f"no release is called {brief(version, 80)}", "abi_list(library) has the versions"
            )
    start = versions.index(since) if since else 0
    end = versions.index(until) if until else len(rows) - 1
    return rows[start : end + 1]


def _item(row: HistoryRow, before: HistoryRow | None) -> HistoryItem:
    release, churn, decision = row.release, row.churn, row.decision
    promise = decision.promise if decision is not None else None
    return HistoryItem(
        version=release.version,
        released_at=f"{release.released or release.ingested:%Y-%m-%d}",
        previous=row.previous,
        verdict=row.verdict.name if row.verdict is not None else None,
        exit_code=decision.exit_code if decision is not None else None,
        outcome=decision.outcome if decision is not None else "",
        comparable=not row.unjudged,
        against_baseline=row.against_baseline.name if row.against_baseline is not None else None,
        added=churn.added if churn else 0,
        removed=churn.removed if churn else 0,
        changed=churn.changed if churn else 0,
        not_checked=brief(row.evidence_gap, 160),
        reason=brief(row.unjudged, 160),
        bump=bump_of(promise) if promise is not None and promise.notable else None,
        trend=_trend(before, row) if before else None,
        approved=brief(_waived(decision), 160),
        approved_baseline=brief(_waived(row.baseline_decision), 160),
        tags=tuple(tag.name for tag in release.tags),
    )


def _waived(decision: Decision | None) -> str:
    """Who approved what a release breaks, where it passes for that."""
    return decision.reasons[0].sentence if decision is not None and decision.code == "waived" else ""


def _trend(before: HistoryRow, row: HistoryRow) -> Trend:
    if before.verdict is None or row.verdict is None:
        return "incomparable"
    if before.verdict == row.verdict:
        return "unchanged"
    return "regressed" if row.verdict > before.verdict else "improved"


SYMBOL_BUDGET, LONG = 600, 240


class LogItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One release in which a declaration appeared, changed, vanished, or could not be observed.

    ``text`` is what appeared or vanished, ``diff`` what changed, line by line; ``said`` what the texts do not show.
    ``first_seen`` is an earlier build that failed its gate and has the change; ``revision`` is what was built there.
    Of a library with several lines, ``lines`` are those in which it is so; texts are those of one of them.
    """

    library: str
    version: str
    date: str
    action: str
    evidence: str
    symbol: str
    text: str = ""
    diff: str = ""
    said: tuple[str, ...] = ()
    first_stored: bool = False
    alias_of: str = ""
    first_seen: str = ""
    revision: str = ""
    lines: tuple[str, ...] = ()


class SymbolAnswer(Answer, frozen=True, kw_only=True):
    """A page of what became of a declaration, oldest first."""

    events: tuple[LogItem, ...]
    total: int
    returned: int
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


@tool("History of a declaration")
def abi_symbol_history(
    call: Call,
    *,
    symbol: LoggedName,
    library: SomeLibrary = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> SymbolAnswer:
    """Tell in which releases a function, variable or type appeared, changed or vanished, with its text then.

    Use it for "which release removed X". not-observed means unknown. Example: symbol="geo::Point", library="libgeo".
    """
    with call.store() as store:
        events = logged_events(log(symbol, library=library, database=store))
    several = _with_several_lines(events)
    items = [_symbol_item(each, several=each.entry.line.library in several) for each in events]
    page = call.page(items, budget=SYMBOL_BUDGET)
    last = events[-1].entry
    told = f"{counted(len(events), 'event')}; last: {last.action} in {last.line.library} {last.version}"
    library, say = last.line.library, "Read what else the last of these releases changed."
    return SymbolAnswer(
        headline=f"{brief(last.display, 120)}: {told}",
        events=page.items,
        total=len(events),
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=(*page.more, asking("abi_summary", say, library=library, version=last.version, against="prev")),
    )


def _with_several_lines(events: Iterable[LoggedEvent]) -> Container[str]:
    """The libraries of which events are of several lines."""
    lines = Counter(line.library for line in {line for each in events for line in each.of})
    return {library for library, count in lines.items() if count > 1}


def _symbol_item(event: LoggedEvent, *, several: bool) -> LogItem:
    entry = event.entry
    texts = {"appeared": entry.after, "vanished": entry.before}.get(entry.action, ())
    return LogItem(
        library=entry.line.library,
        version=entry.version,
        date=f"{entry.date:%Y-%m-%d}",
        action=entry.action,
        evidence=", ".join(event.facets),
        symbol=brief(entry.display, LONG),
        text=brief("\n".join(texts), LONG),
        diff="\n".join(event.lines),
        said=entry.said if entry.action == "changed" else (),
        first_stored=entry.first_stored,
        alias_of=entry.alias_of or "",
        first_seen=brief(entry.built.version, 80) if entry.built.version != entry.version else "",
        revision=brief(entry.built.revision or "", 64),
        lines=tuple(f"{each.target}/{each.profile}" for each in event.of) if several else (),
    )
