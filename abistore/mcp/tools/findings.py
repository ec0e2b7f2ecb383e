"""``abi_findings`` and ``abi_finding``: what a comparison found, a page of it or one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.arguments import FindingIdentity
from abistore.interface import (
    ChangeKind,
    ComparedDeclaration,
    ExplainedKind,
    Novelty,
    Report,
    ReportedFinding,
    SnapshotNotFound,
    StoredFinding,
    UsageError,
    beside_build,
    beside_comparison,
    explain,
    log,
)
from abistore.interface import findings as stored_findings
from abistore.mcp.answers import (
    Answer,
    ChangeItem,
    Gap,
    NextCall,
    ReviewItem,
    asking,
    brief,
    change_item,
    difference_lines,
    gaps,
    one_call,
    suppressed_findings,
)
from abistore.mcp.operands import (
    SHOWN,
    Call,
    earlier_report,
    findings_of,
    identity_of,
    is_handle,
    one_finding,
    reviewed,
    told_report,
)
from abistore.mcp.tools.declaration import ComparisonId, Cursor, DetailLevel, FoundIn, Limit, described, tool
from abistore.model.findings import Element
from abistore.model.kind_names import is_meant
from abistore.report.model import ImpactLabel, VerdictName
from abistore.report.wording import concern

FINDINGS_BUDGET = 1_500
LONGEST_NAME = 1_000
"""A longer name is no argument of a call that is proposed: nobody sends it back."""

LONG = 600
"""How many characters a declaration has that is shown whole, unless more is asked for."""

State: TypeAlias = Literal["active", "suppressed", "advice", "reviewed"]


class LeftOut(msgspec.Struct, frozen=True):
    """What an answer leaves out: findings that are suppressed, and those that the filters leave out."""

    suppressed: int
    filtered_out: int


class BesideItem(msgspec.Struct, frozen=True):
    """This comparison beside an earlier one: how many findings are new, known, and gone since."""

    label: str
    trend: Literal["regressed", "improved", "mixed", "unchanged"]
    new: int
    known: int
    gone: int


class FindingsAnswer(Answer, frozen=True, kw_only=True):
    """A page of findings; an empty one says why: what was left out, and what was not checked."""

    verdict: VerdictName
    comparison_id: str
    items: tuple[ChangeItem, ...]
    total: int
    returned: int
    excluded: LeftOut
    beside: BesideItem | None = None
    not_checked: tuple[Gap, ...] = ()
    next_cursor: str | None = None
    next: tuple[NextCall, ...] = ()


class FindingAnswer(Answer, frozen=True, kw_only=True):
    """One finding with its declaration before and after; ``found_in`` is a comparison that has it.

    Of long declarations ``difference`` has the lines that differ, and the level ``full`` both texts.
    """

    finding: ChangeItem
    before: str | None
    after: str | None
    difference: tuple[str, ...] = ()
    guidance: str
    found_in: str
    consequences: tuple[ChangeItem, ...] = ()
    next: tuple[NextCall, ...] = ()


class _Wanted(NamedTuple):
    """The filters of findings."""

    impact: str | None
    element: str | None
    action: str | None
    kind: str | None
    symbol: str | None
    path: str | None
    novelty: str | None

    @property
    def told(self) -> str:
        return " ".join(value for value in self if value)


@tool("List findings")
def abi_findings(
    call: Call,
    *,
    comparison_id: ComparisonId,
    impact: Annotated[ImpactLabel | None, described("Only these")] = None,
    element: Annotated[Element | None, described("Only about these")] = None,
    action: Annotated[Literal["added", "removed", "changed"] | None, described("Only these")] = None,
    kind: Annotated[str | None, described("Only this kind")] = None,
    symbol: Annotated[str | None, described("Part of a name: about, affecting or mentioning it")] = None,
    path: Annotated[str | None, described("Part of its file's path")] = None,
    beside: Annotated[str | None, described("Earlier comparison_id, version or revision")] = None,
    novelty: Annotated[Literal["new", "known", "gone"] | None, described("beside that, else the baseline")] = None,
    state: Annotated[State, described("suppressed: accepted")] = "active",
    sort_by: Annotated[Literal["priority", "symbol", "kind"], described("priority: worst first")] = "priority",
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = None,
) -> FindingsAnswer:
    """Page through what a comparison found, worst first, filtered as you like. The verdict is of all findings.

    Use it for lists, abi_finding for one; with beside for what another round of a pull request brought or mended.
    Example: comparison_id="2835c286835ef65f", impact="breaking", limit=200.
    """
    report = told_report(call, comparison_id)
    said = reviewed(call, report.new.library)
    compared = _compared_with(call, report, beside or ("baseline" if novelty else None))
    every = compared.gone if compared and novelty == "gone" else _of_state(report, state, said)
    wanted = _Wanted(impact, element, action, kind, symbol, path, novelty)
    cards = {card.kind: card for card in kinds_of(every)}
    chosen = _sorted([each for each in every if _fits(each, cards.get(each.kind), wanted, compared)], sort_by)
    items = (change_item(one, detail_level, cards.get(one.kind)) for one in chosen)
    told = [_told_with(item, one, said, symbol, compared) for item, one in zip(items, chosen, strict=True)]
    page = call.page(told, budget=FINDINGS_BUDGET)
    short = identity_of(report)[:SHOWN]
    return FindingsAnswer(
        headline=_findings_headline(report, f"{len(chosen)} of {len(every)} {state} findings", wanted, compared),
        verdict=report.verdict,
        comparison_id=short,
        items=page.items,
        total=len(chosen),
        returned=len(page.items),
        excluded=LeftOut(0 if state == "suppressed" else report.suppressed_count, len(every) - len(chosen)),
        beside=_beside_item(report, compared) if compared else None,
        not_checked=gaps(report),
        next_cursor=page.next_cursor,
        next=(*page.more, *_next(short, [] if novelty == "gone" else chosen, report)),
    )


def kinds_of(found: Iterable[ReportedFinding]) -> Iterator[ChangeKind]:
    """What is known of the kinds of findings, each once."""
    yield from (card for name in {each.kind for each in found} if (card := _card(name)) is not None)


def _compared_with(call: Call, report: Report, beside: str | None) -> Novelty | None:
    if beside is None:
        return None
    if is_handle(beside):
        return beside_comparison(report, earlier_report(call, beside))
    with call.store() as store:
        return beside_build(report, beside, database=store)


def _beside_item(report: Report, found: Novelty) -> BesideItem:
    trend: Literal["regressed", "improved", "mixed", "unchanged"] = "unchanged"
    if found.new or found.gone:
        trend = "mixed" if found.new and found.gone else "regressed" if found.new else "improved"
    return BesideItem(
        brief(found.beside, 160), trend, len(found.new), len(report.changes) - len(found.new), len(found.gone)
    )


def _findings_headline(report: Report, told: str, wanted: _Wanted, compared: Novelty | None) -> str:
    fit = f" fit {brief(wanted.told, 80)}" if wanted.told else ""
    if compared is None:
        return f"{report.verdict}: {told}{fit}"
    item = _beside_item(report, compared)
    return f"{report.verdict}: {told}{fit}; {item.trend}: {item.new} new and {item.gone} gone beside {item.label}"


def _told_with(
    item: ChangeItem,
    change: ReportedFinding,
    said: Mapping[str, ReviewItem],
    symbol: str | None,
    compared: Novelty | None,
) -> ChangeItem:
    """An item with what people said of it, how it concerns a symbol, and whether it is new."""
    how = concern(change, symbol) if symbol else None
    novelty = ""
    if compared is not None:
        is_gone = any(each is change for each in compared.gone)
        novelty = "gone" if is_gone else "new" if change.id in compared.new else "known"
    matched = how if how and how != "name" else ""
    return msgspec.structs.replace(item, review=said.get(item.id), matched=matched, novelty=novelty)


def _of_state(report: Report, state: State, said: Mapping[str, ReviewItem]) -> Sequence[ReportedFinding]:
    if state == "reviewed":
        return [one for one in (*report.changes, *report.suppressed) if one.id in said]
    return {"active": report.changes, "suppressed": report.suppressed, "advice": report.advice}[state]


def _next(short: str, chosen: Sequence[ReportedFinding], report: Report) -> tuple[NextCall, ...]:
    if chosen:
        return (one_call(chosen[0], short),)
    if report.suppressed_count:
        return (suppressed_findings(short),)
    return (asking("abi_gate", "See whether CI would fail.", comparison_id=short),)


def _fits(change: ReportedFinding, card: ChangeKind | None, wanted: _Wanted, compared: Novelty | None) -> bool:
    if wanted.impact not in {None, change.impact} or wanted.action not in {None, card.action if card else ""}:
        return False
    if wanted.kind is not None and not is_meant(wanted.kind, change.kind):
        return False
    if wanted.symbol is not None and concern(change, wanted.symbol) is None:
        return False
    if wanted.path is not None and wanted.path not in (change.source_location or ""):
        return False
    if compared is not None and wanted.novelty in {"new", "known"}:
        return (change.id in compared.new) == (wanted.novelty == "new")
    return wanted.element is None or wanted.element in _elements(change, card)


def _elements(change: ReportedFinding, card: ChangeKind | None) -> frozenset[str]:
    """What a finding is about; one about the library that names exports is about these, too."""
    own = card.element if card else ""
    return frozenset({own, "functions", "variables"} if own == "library" and change.affected else {own})


def _sorted(changes: list[ReportedFinding], by: Literal["priority", "symbol", "kind"]) -> list[ReportedFinding]:
    if by == "priority":
        return changes
    return sorted(changes, key=lambda change: (change.symbol if by == "symbol" else change.kind, change.id))


@tool("Read one finding")
def abi_finding(
    call: Call,
    *,
    finding_id: FindingIdentity,
    comparison_id: FoundIn = None,
    detail_level: DetailLevel = "normal",
) -> FindingAnswer:
    """Tell one finding: its declaration before and after, the exports it affects, why it matters, how to avoid it.

    Use it to explain or mend a break. Example: finding_id="3b3f191f", comparison_id="2835c286835ef65f".
    """
    if comparison_id is None:
        return _from_store(call, finding_id, detail_level)
    report = told_report(call, comparison_id)
    declared = {(one.symbol, one.subject): one for one in report.declarations}
    change = one_finding(findings_of(report), finding_id)
    where = f"{report.old} -> {report.new}"
    answer = _finding(change, declared.get((change.symbol, change.subject)), where, detail_level)
    return _with_review(call, answer, report.new.library)


def _from_store(call: Call, finding_id: str, level: Literal["summary", "normal", "full"]) -> FindingAnswer:
    with call.store() as store:
        found: StoredFinding = stored_findings(finding_id, database=store).findings[-1]
    answer = _finding(found.change, found.declared, f"{found.old} -> {found.new}", level)
    return _with_review(call, answer, found.new.library)


def _with_review(call: Call, answer: FindingAnswer, library: str) -> FindingAnswer:
    said = reviewed(call, library).get(answer.finding.id)
    finding = msgspec.structs.replace(answer.finding, review=said)
    after = [*answer.next, *_earlier(call, finding.symbol, library)]
    if answer.difference:
        whole = {**call.arguments, "detail_level": "full"}
        after.insert(0, asking(call.tool, "Read the whole declarations.", **whole))
    if call.settings.allow_write:
        say, among = "Note that people have seen it.", call.arguments.get("comparison_id")
        after.append(asking("abi_review", say, finding_id=finding.id, state="seen", comparison_id=among))
    return msgspec.structs.replace(answer, finding=finding, next=tuple(after))


def _earlier(call: Call, symbol: str, library: str) -> Iterator[NextCall]:
    """The call that tells what became of a declaration, where the store knows it."""
    if call.has_no_store or not 0 < len(symbol) <= LONGEST_NAME:
        return
    with call.store() as store, suppress(SnapshotNotFound):
        log(symbol, library=library, database=store)
        yield asking("abi_symbol_history", "See when it changed before.", symbol=symbol, library=library)


def _finding(
    change: ReportedFinding,
    declared: ComparedDeclaration | None,
    where: str,
    level: Literal["summary", "normal", "full"],
) -> FindingAnswer:
    card = _card(change.kind)
    item = change_item(change, level, card)
    length = len(declared.before or "") + len(declared.after or "") if declared else 0
    whole = level == "full" or length <= 2 * LONG
    return FindingAnswer(
        headline=f"{change.impact}: {brief(change.display, 120)}: {brief(change.description, 160)}",
        finding=msgspec.structs.replace(item, fix=""),
        before=declared.before if whole and declared else None,
        after=declared.after if whole and declared else None,
        difference=() if whole or not declared else tuple(difference_lines(declared)),
        guidance=card.fix if card else "",
        found_in=brief(where),
        consequences=tuple(change_item(each, "summary") for each in change.consequences[:3]),
        next=(asking("abi_explain_change", "Read what this kind of change does.", change_kind=change.kind),),
    )


def _card(kind: str) -> ExplainedKind | None:
    try:
        return explain(kind)
    except UsageError:  # a stored finding may be of a kind that is gone
        return None
