"""``abi_findings`` and ``abi_finding``: what a comparison found, in pages, and one finding with its fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec

from abistore.interface import (
    ChangeKind,
    ComparedDeclaration,
    ExplainedKind,
    Report,
    ReportedFinding,
    StoredFinding,
    UsageError,
    explain,
)
from abistore.interface import findings as stored_findings
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.changes import ChangeItem, ReviewItem, change_item
from abistore.mcp.answers.compared import Gap, gaps
from abistore.mcp.call import Call
from abistore.mcp.handles import SHOWN, findings_of, identity_of, one_finding, reviewed, told_report
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import ComparisonId, Cursor, DetailLevel, Limit, described
from abistore.model.findings import Element
from abistore.model.judging.kinds import is_meant
from abistore.report.model import ImpactLabel, VerdictName

BUDGET = 1_500
LONG = 600
"""How many characters of a declaration are told."""

State: TypeAlias = Literal["active", "suppressed", "advice", "reviewed"]


class LeftOut(msgspec.Struct, frozen=True):
    """What an answer leaves out: findings that are suppressed, and those that the filters leave out."""

    suppressed: int
    filtered_out: int


class FindingsAnswer(Answer, frozen=True, kw_only=True):
    """A page of findings; an empty one says why: what was left out, and what was not checked."""

    verdict: VerdictName
    comparison_id: str
    items: tuple[ChangeItem, ...]
    total: int
    returned: int
    excluded: LeftOut
    not_checked: tuple[Gap, ...] = ()
    next_cursor: str | None = None
    next: tuple[str, ...] = ()


class FindingAnswer(Answer, frozen=True, kw_only=True):
    """One finding with its declaration before and after; ``found_in`` is a comparison that has it."""

    finding: ChangeItem
    before: str | None
    after: str | None
    guidance: str
    found_in: str
    consequences: tuple[ChangeItem, ...] = ()
    next: tuple[str, ...] = ()


@tool()
def abi_findings(
    call: Call,
    *,
    comparison_id: ComparisonId,
    impact: Annotated[ImpactLabel | None, described("Only these")] = None,
    element: Annotated[Element | None, described("Only about these")] = None,
    action: Annotated[Literal["added", "removed", "changed"] | None, described("Only these")] = None,
    kind: Annotated[str | None, described("Only this kind")] = None,
    symbol: Annotated[str | None, described("Part of a name")] = None,
    state: Annotated[State, described("suppressed: accepted")] = "active",
    sort_by: Annotated[Literal["priority", "symbol", "kind"], described("priority: worst first")] = "priority",
    detail_level: DetailLevel = "summary",
    cursor: Cursor = None,
    limit: Limit = 20,
) -> FindingsAnswer:
    """Page through what a comparison found, worst first, filtered as you like. The verdict is of all findings."""
    report = told_report(call, comparison_id)
    cards = {card.kind: card for card in report.kinds}
    said = reviewed(call, report.new.library)
    every = _of_state(report, state, said)
    wanted = {"impact": impact, "element": element, "action": action, "kind": kind, "symbol": symbol}
    chosen = [change for change in every if _fits(change, cards.get(change.kind), wanted)]
    chosen = _sorted(chosen, sort_by)
    items = (change_item(one, detail_level, cards.get(one.kind)) for one in chosen)
    page = call.page([msgspec.structs.replace(item, review=said.get(item.id)) for item in items], budget=BUDGET)
    short = identity_of(report)[:SHOWN]
    filters = " ".join(value for value in wanted.values() if value)
    told = f"{len(chosen)} of {len(every)} {state} findings" + (f" fit {brief(filters, 80)}" if filters else "")
    return FindingsAnswer(
        headline=f"{report.verdict}: {told}",
        verdict=report.verdict,
        comparison_id=short,
        items=page.items,
        total=len(chosen),
        returned=len(page.items),
        excluded=LeftOut(0 if state == "suppressed" else report.suppressed_count, len(every) - len(chosen)),
        not_checked=gaps(report),
        next_cursor=page.next_cursor,
        next=_next(short, chosen, report),
    )


def _of_state(report: Report, state: State, said: Mapping[str, ReviewItem]) -> Sequence[ReportedFinding]:
    if state == "reviewed":
        return [one for one in (*report.changes, *report.suppressed) if one.id in said]
    return {"active": report.changes, "suppressed": report.suppressed, "advice": report.advice}[state]


def _next(short: str, chosen: Sequence[ReportedFinding], report: Report) -> tuple[str, ...]:
    if chosen:
        return (asking("abi_finding", finding_id=chosen[0].id, comparison_id=short),)
    if report.suppressed_count:
        return (asking("abi_findings", comparison_id=short, state="suppressed"),)
    return (asking("abi_gate", comparison_id=short),)


def _fits(change: ReportedFinding, card: ChangeKind | None, wanted: dict[str, str | None]) -> bool:
    told = {
        "impact": change.impact,
        "element": card.element if card else "",
        "action": card.action if card else "",
    }
    named = wanted["symbol"]
    if named and named not in change.symbol and named not in change.display:
        return False
    kind = wanted["kind"]
    if kind is not None and not is_meant(kind, change.kind):
        return False
    return all(value is None or told[name] == value for name, value in wanted.items() if name in told)


def _sorted(changes: list[ReportedFinding], by: Literal["priority", "symbol", "kind"]) -> list[ReportedFinding]:
    if by == "priority":
        return changes
    return sorted(changes, key=lambda change: (change.symbol if by == "symbol" else change.kind, change.id))


@tool()
def abi_finding(
    call: Call,
    *,
    finding_id: Annotated[str, described("id of a finding, or its first digits")],
    comparison_id: Annotated[str | None, described("Else: all stored verdicts")] = None,
    detail_level: DetailLevel = "normal",
) -> FindingAnswer:
    """Tell one finding: its declaration before and after, the exports it affects, why it matters, how to avoid it."""
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
    review = asking(
        "abi_review", finding_id=finding.id, state="seen", comparison_id=call.arguments.get("comparison_id")
    )
    after = (answer.next[0], review) if call.settings.allow_write else answer.next
    return msgspec.structs.replace(answer, finding=finding, next=after)


def _finding(
    change: ReportedFinding,
    declared: ComparedDeclaration | None,
    where: str,
    level: Literal["summary", "normal", "full"],
) -> FindingAnswer:
    card = _card(change.kind)
    item = change_item(change, level, card)
    return FindingAnswer(
        headline=f"{change.impact}: {brief(change.display, 120)}: {brief(change.description, 160)}",
        finding=msgspec.structs.replace(item, fix=""),
        before=_text(declared.before) if declared else None,
        after=_text(declared.after) if declared else None,
        guidance=card.fix if card else "",
        found_in=brief(where),
        consequences=tuple(change_item(each, "summary") for each in change.consequences[:3]),
        next=(
            asking("abi_explain_change", change_kind=change.kind),
            asking("abi_symbol_history", symbol=brief(change.symbol, 120)),
        ),
    )


def _card(kind: str) -> ExplainedKind | None:
    try:
        return explain(kind)
    except UsageError:  # a stored finding may be of a kind that is gone
        return None


def _text(declaration: str | None) -> str | None:
    return None if declaration is None else brief(declaration, LONG)
