"""``abi_consumers``: which stored programs a release or a build breaks, and which releases a program can run on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec

from abistore.arguments import RunningProgram, UsedName
from abistore.interface import (
    BrokenBy,
    BuildReviewPlan,
    ConsumersOfBuild,
    ConsumerUse,
    ExtractOptions,
    JudgedConsumer,
    OpenStore,
    ProgramRange,
    Report,
    SatisfyingRelease,
    Selection,
    StoredConsumer,
    consumers,
    consumers_of_build,
    consumers_using,
    program_range,
)
from abistore.mcp.answers import Answer, NextCall, asking, brief
from abistore.mcp.operands import Call, file, keep, operand
from abistore.mcp.settings import Refusal
from abistore.mcp.tools.comparing import headers_of_sides
from abistore.mcp.tools.declaration import (
    Cursor,
    Folders,
    Headers,
    Language,
    Limit,
    Line,
    SomeLibrary,
    described,
    like,
    tool,
)
from abistore.model.words import counted, did_you_mean, listed, near

BUDGET = 1_000
MOST_REASONS = 8
"""How many reasons why one program breaks are listed."""


class BrokenItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What breaks a program: the ``sort`` of it (symbol, version, size, type or change), the declaration, and why."""

    sort: str
    symbol: str
    kind: str = ""
    detail: str = ""


class ConsumerItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program, or a release that a program is run with: ``breaks``, ``runs``, or ``asks-for-another`` SONAME.

    ``findings`` are those of the comparison that it meets; ``symbols`` and ``types`` those that it uses.
    """

    name: str = ""
    library: str = ""
    version: str = ""
    state: str = ""
    imports: int = 0
    broken_by: tuple[BrokenItem, ...] = ()
    more: int = 0
    findings: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()


class ConsumersAnswer(Answer, frozen=True, kw_only=True):
    """A page of programs, or of releases; ``breaking`` counts those that break or are broken."""

    items: tuple[ConsumerItem, ...]
    total: int
    returned: int
    breaking: int
    comparison_id: str | None = None
    warnings: tuple[str, ...] = ()
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


@tool("See which programs break")
def abi_consumers(
    call: Call,
    *,
    new_input: Annotated[str | None, described("Consumers that it breaks: libfoo@1.2.0, or absolute path")] = None,
    old_input: Annotated[str | None, described("Else the previous release, or the baseline")] = None,
    program: RunningProgram = None,
    library: SomeLibrary = None,
    name: Annotated[str | None, like(UsedName)] = None,
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    line: Line = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> ConsumersAnswer:
    """Tell which known programs a release or a build breaks and by what, or which releases a program can run on.

    Use it for "which of our consumers breaks?" (new_input), "which releases can this binary run on?" (program), "who
    uses X?" (library, name). Example: new_input="/ci/libfoo.so".
    """
    _check_one(library, new_input=new_input, program=program, name=name)
    new = operand(call.settings, new_input, "new_input") if new_input is not None else None
    old = operand(call.settings, old_input, "old_input") if old_input is not None else None
    target, _, profile = (line or "").partition("/")
    named = headers_of_sides(call, {"headers": headers}, include_dirs, language)["headers"]
    options = ExtractOptions(max_bytes=call.settings.max_file_size, progress=call.progress, headers=named)
    selection = Selection(target or None, profile or None, options)
    with call.store() as store:
        if new is not None:
            plan = BuildReviewPlan(library=library, selection=selection)
            return _broken(call, consumers_of_build(new, old, plan, database=store))
        if program is not None:
            return _range(call, _ranges(call, store, program, library, selection))
        if name is not None and library is not None:
            return _using(call, store, library, name)
        return _known(call, consumers(library, database=store), library)


def _check_one(library: str | None, **asked: str | None) -> None:
    given = [word for word, value in asked.items() if value is not None]
    if len(given) > 1:
        raise Refusal("INVALID_ARGUMENT", f"give {' or '.join(given)}, and not both", "each is a question of its own")
    if given == ["name"] and library is None:
        raise Refusal("INVALID_ARGUMENT", "name needs library", "say whose symbol or type it is")


# --- whom a release or a build breaks -----------------------------------------------------------------------------


def _broken(call: Call, found: ConsumersOfBuild) -> ConsumersAnswer:
    report = found.report
    ids = _findings(report) if report is not None else {}
    items = [_judged(each, ids.get(each.name, ())) for each in found.consumers]
    page = call.page(items, budget=BUDGET)
    breaking = [each.name for each in found.consumers if each.state == "breaks"]
    rebuild = sum(each.state == "asks-for-another" for each in found.consumers)
    asks = f", {counted(rebuild, 'asks', 'ask')} for another SONAME" if rebuild else ""
    against = f", compared with {found.against}" if found.against else ""
    which = f": {listed(breaking)}" if breaking else ""
    known = counted(len(items), "known program")
    comparison_id = keep(call, report) if report is not None else None
    return ConsumersAnswer(
        headline=brief(f"{found.label} breaks {len(breaking)} of {known}{asks}{against}{which}"),
        items=page.items,
        total=len(items),
        returned=len(page.items),
        breaking=len(breaking),
        comparison_id=comparison_id,
        warnings=() if items else (UNKNOWN,),
        next_cursor=page.next_cursor,
        next=(*page.more, *_next(comparison_id, items)),
    )


UNKNOWN = "no known program uses it: `abistore consumers add` stores what programs use, which a person does"


def _findings(report: Report) -> Mapping[str, tuple[str, ...]]:
    """The ids of the findings that each program meets."""
    found: dict[str, tuple[str, ...]] = {}
    for each in report.changes:
        for name in each.consumers:
            found[name] = (*found.get(name, ()), each.id)
    return found


def _judged(found: JudgedConsumer, findings: tuple[str, ...]) -> ConsumerItem:
    return ConsumerItem(
        name=found.name,
        state=found.state,
        imports=found.imports,
        broken_by=tuple(_reasons(found.broken_by)),
        more=max(0, len(found.broken_by) - MOST_REASONS),
        findings=findings[:MOST_REASONS],
        not_checked=tuple(map(brief, found.not_checked)),
    )


def _reasons(found: Sequence[BrokenBy]) -> Iterator[BrokenItem]:
    for each in found[:MOST_REASONS]:
        yield BrokenItem(each.sort, brief(each.symbol), each.kind, brief(each.detail))


def _next(comparison_id: str | None, items: Sequence[ConsumerItem]) -> Iterator[NextCall]:
    met = next((each.findings[0] for each in items if each.findings), None)
    if comparison_id is not None and met is not None:
        say = "Read what breaks the first of them, and how to avoid it."
        yield asking("abi_finding", say, comparison_id=comparison_id, finding_id=met)
    elif comparison_id is not None:
        yield asking("abi_gate", "See whether CI would fail.", comparison_id=comparison_id)
    for each in items[:1]:
        if each.state != "runs" or comparison_id is None:
            yield asking("abi_consumers", "See which releases it can run on.", program=each.name)


# --- what a program runs on ---------------------------------------------------------------------------------------


def _ranges(
    call: Call, store: OpenStore, program: str, library: str | None, selection: Selection
) -> tuple[ProgramRange, ...]:
    meant = file(call.settings, program, "program") if program.startswith("/") else _stored(store, program)
    return program_range(
        meant,
        library,
        options=selection.options,
        database=store,
        target=selection.target,
        profile=selection.profile,
    )


def _stored(store: OpenStore, program: str) -> StoredConsumer:
    known = {each.details.name: each for each in consumers(database=store)}
    if program in known:
        return known[program]
    hint = did_you_mean(near(program, list(known)), "give the absolute path of a program's file")
    raise Refusal("NOT_FOUND", f"no stored program is called {brief(program, 80)}", hint)


def _range(call: Call, found: tuple[ProgramRange, ...]) -> ConsumersAnswer:
    items = [_satisfying(each, one) for each in found for one in each.releases]
    page = call.page(items, budget=BUDGET)
    return ConsumersAnswer(
        headline=brief(f"{found[0].program} runs on {'; '.join(map(_extent, found))}"),
        items=page.items,
        total=len(items),
        returned=len(page.items),
        breaking=sum(each.state == "breaks" for each in items),
        next_cursor=page.next_cursor,
        next=(
            *page.more,
            asking("abi_history", "See the verdicts of its releases.", library=found[0].line.library),
        ),
    )


def _extent(found: ProgramRange) -> str:
    fit = [each.version for each in found.releases if each.state == "runs"]
    which = f"{found.first} to {found.last}" if len(fit) > 1 else "".join(fit) or "none"
    return f"{found.line.library} {which} ({len(fit)} of {counted(len(found.releases), 'release')})"


def _satisfying(found: ProgramRange, release: SatisfyingRelease) -> ConsumerItem:
    return ConsumerItem(
        library=found.line.library,
        version=release.version,
        state=release.state,
        broken_by=tuple(_reasons(release.broken_by)),
        more=max(0, len(release.broken_by) - MOST_REASONS),
        not_checked=tuple(map(brief, release.not_checked)),
    )


# --- who is known -------------------------------------------------------------------------------------------------


def _using(call: Call, store: OpenStore, library: str, name: str) -> ConsumersAnswer:
    found = consumers_using(library, name, database=store)
    items = [_use(each) for each in found.users]
    page = call.page(items, budget=BUDGET)
    unseen = f"not known of {listed(found.unseen)}: what they use is not seen in full" if found.unseen else ""
    return ConsumersAnswer(
        headline=f"{len(items)} of {counted(found.consumers, 'known program')} use {brief(name, 80)} of {library}",
        items=page.items,
        total=len(items),
        returned=len(page.items),
        breaking=0,
        warnings=(unseen,) if unseen else (),
        next_cursor=page.next_cursor,
        next=(
            *page.more,
            asking("abi_symbol_history", "See when it changed.", symbol=name, library=library),
        ),
    )


def _use(found: ConsumerUse) -> ConsumerItem:
    return ConsumerItem(name=found.name, symbols=found.symbols, types=found.types)


def _known(call: Call, found: Sequence[StoredConsumer], library: str | None) -> ConsumersAnswer:
    items = [ConsumerItem(name=each.details.name, imports=each.imports) for each in found]
    page = call.page(items, budget=BUDGET)
    of = f" of {library}" if library else ""
    ranges = (asking("abi_consumers", "See which releases it can run on.", program=each.name) for each in items[:1])
    return ConsumersAnswer(
        headline=f"{counted(len(items), 'known program')}{of}",
        items=page.items,
        total=len(items),
        returned=len(page.items),
        breaking=0,
        warnings=() if items else (UNKNOWN,),
        next_cursor=page.next_cursor,
        next=(*page.more, *ranges),
    )
