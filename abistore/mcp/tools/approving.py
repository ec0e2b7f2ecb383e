"""``abi_approve``: accept breaks, or take that back, which a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from abistore.arguments import ApprovalReason, ApprovedProfile, ApprovedTarget, FindingIdentities, Scope, Ticket, Until
from abistore.interface import (
    Approval,
    ApprovalPlan,
    OpenStore,
    ReportedFinding,
    WithdrawalPlan,
    approvals,
    approve,
    findings,
    withdraw,
)
from abistore.mcp.answers import Answer, NextCall, asking, brief
from abistore.mcp.operands import Call, Question, one_finding, report_of
from abistore.mcp.settings import Code, Refusal
from abistore.mcp.tools.declaration import FoundIn, described, like, tool
from abistore.model.approvals import EVERY_TARGET, in_words
from abistore.model.words import counted, in_line


def withdrawal_question(call: Call, digits: list[str], reason: str, scope: str, library: str | None) -> Question:
    """What a person is asked before gates close again."""
    with call.store() as store:
        found = _approved(store, digits, scope, library)
    named = found[0].library
    text = (
        f"Withdraw {counted(len(found), 'approval')} of {named}, so that gates fail for the findings again? "
        f"{'; '.join(map(_withdrawn_text, found))}. Reason given: {in_line(reason, LONG)!r}"
    )
    ids = " ".join(dict.fromkeys(one.identity for one in found))
    return Question(text, {"library": named, "ids": ids, "approvals": _exactly(found)})


def withdrawn(call: Call, question: Question, reason: str, scope: str) -> tuple[Approval, ...]:
    """The approvals that are taken back now. Raises :class:`Refusal` where others hold than the person was asked of."""
    facts = question.facts
    named = facts["ids"].split()
    plan = WithdrawalPlan(reason, facts["library"], scope or None, call.actor)
    with call.writing() as store:
        if _exactly(_approved(store, named, scope, facts["library"])) != facts["approvals"]:
            raise Refusal("VERSION_CONFLICT", "other approvals hold by now", "ask again: somebody approved or withdrew")
        done = withdraw(named, plan, database=store)
    return tuple(one.approval for one in done)


def _exactly(found: list[Approval]) -> str:
    """The approvals as they stand now. Their time is told too: a later approval of the same finding is another one."""
    return "; ".join(f"{one.identity} {one.scope} {one.approved.isoformat()}" for one in found)


def _approved(store: OpenStore, digits: list[str], scope: str, library: str | None) -> list[Approval]:
    """What holds of the findings that are meant. Raises :class:`Refusal` where nothing of one does, or of several."""
    ledger = [one.approval for one in approvals(library, database=store)]
    standing = [one for one in ledger if not scope or one.scope == scope]
    found = [one for each in dict.fromkeys(digits) for one in _one(standing, each)]
    names = sorted({one.library for one in found})
    if len(names) > 1:
        raise Refusal("INVALID_ARGUMENT", f"approvals of {', '.join(names)}", "withdraw those of one library at a time")
    return found


def _one(standing: list[Approval], digits: str) -> list[Approval]:
    found = [one for one in standing if digits and one.identity.startswith(digits.lower())]
    meant = sorted({(one.library, one.identity) for one in found})
    if len(meant) == 1:
        return found
    code: Code = "AMBIGUOUS_REF" if meant else "NOT_FOUND"
    listed = ", ".join(f"{identity} of {library}" for library, identity in meant[:3])
    hint = f"give more digits: {listed}" if meant else "abistore://libraries/{library}/approvals lists what is approved"
    raise Refusal(code, f"{len(meant) or 'no'} approved findings begin with {brief(digits, 80)}", hint)


def _withdrawn_text(one: Approval) -> str:
    facts = one.facts
    what = f"{facts.kind} {brief(facts.symbol, 80)!r} " if facts else ""
    return f"{what}[{one.identity}] approved {in_line(in_words(one), LONG)}: {in_line(one.reason, LONG)!r}"


ApprovalWish: TypeAlias = Literal["approved", "withdrawn"]

MOST = 8
"""How many findings one call may name: a person reads them all before they agree."""

LONG = 200
PAST = frozenset({"withdrawn", "replaced"})
NOBODY_ASKED = "mcp, nobody was asked"


class ApproveAnswer(Answer, frozen=True, kw_only=True):
    """What is approved or taken back now; ``created`` where something else held before. The verdict stays."""

    created: bool
    library: str
    finding_ids: tuple[str, ...]
    approver: str
    scope: str
    target: str
    until: str
    decided_by: str
    next: tuple[NextCall, ...] = ()


def _question(
    call: Call,
    *,
    finding_ids: list[str],
    reason: str,
    ticket: str = "",
    until: str = "",
    scope: str = "",
    target: str = "",
    profile: str = "",
    state: ApprovalWish = "approved",
    comparison_id: str | None = None,
) -> Question:
    """An approval is always asked about, finding by finding, and so is taking one back."""
    if state == "withdrawn":
        _check(finding_ids, ticket, until)
        library = None if comparison_id is None else report_of(call, comparison_id).new.library
        return withdrawal_question(call, finding_ids, reason, scope, library)
    library, found = _found(call, finding_ids, comparison_id)
    told = "; ".join(_told(one) for one in found)
    held_on = target or ("" if comparison_id is None else report_of(call, comparison_id).new.target)
    where = "in every release" if scope in {"", "forever"} else f"for {in_line(scope, 80)!r}"
    where += f" on {in_line(held_on, 80)}" if held_on else ""
    where += f" in the build profile {in_line(profile, 80)!r}" if profile else ""
    ends = f", until {in_line(until, 80)!r}" if until else ", without an end"
    held = _held(call, library, found)
    text = (
        f"Accept {counted(len(found), 'break')} of {library}, so that gates let them through {where}{ends}? {told}. "
        f"{f'It replaces the approval of: {held}. ' if held else ''}"
        f"Reason given: {in_line(reason, LONG)!r}"
    )
    ids = " ".join(one.id for one in found)
    return Question(text, {"library": library, "ids": ids, "target": held_on, "profile": profile, "held": held})


def _held(call: Call, library: str, found: list[ReportedFinding]) -> str:
    """What is approved of the findings already."""
    wanted = {one.id for one in found}
    with call.store() as store:
        standing = [one.approval for one in approvals(library, database=store) if one.state not in PAST]
    return "; ".join(
        f"[{one.identity}] approved {in_line(in_words(one), LONG)}: {in_line(one.reason, LONG)!r}"
        for one in standing
        if one.identity in wanted
    )


def _told(one: ReportedFinding) -> str:
    values = " -> ".join(brief(each, 80) for each in one.shown if each is not None)
    name = f"{brief(one.display, 80)}{f': {brief(one.part, 80)}' if one.part else ''}"
    return f"{one.impact.upper()} {one.kind} {name!r}{f' ({values!r})' if values else ''} [{one.id}]"


def _check(digits: list[str], ticket: str, until: str) -> None:
    """Raises :class:`Refusal` for what has no meaning where an approval is taken back."""
    _check_count(digits)
    if ticket or until:
        raise Refusal("INVALID_ARGUMENT", "what is withdrawn has no ticket and no end", "leave out ticket and until")


def _check_count(digits: list[str]) -> None:
    if not 0 < len(digits) <= MOST:
        raise Refusal("INVALID_ARGUMENT", f"{len(digits)} findings are named", f"name 1 to {MOST}: a person reads each")


def _found(call: Call, digits: list[str], comparison_id: str | None) -> tuple[str, list[ReportedFinding]]:
    """The library, and the findings that are meant. Raises :class:`Refusal` where one is not one."""
    _check_count(digits)
    if comparison_id is not None:
        report = report_of(call, comparison_id)
        return report.new.library, [one_finding(report.changes, each) for each in digits]
    found = [_stored(call, each) for each in digits]
    names = sorted({library for library, _ in found})
    if len(names) > 1:
        raise Refusal("INVALID_ARGUMENT", f"findings of {', '.join(names)}", "approve those of one library at a time")
    return names[0], [one for _, one in found]


def _stored(call: Call, digits: str) -> tuple[str, ReportedFinding]:
    with call.store() as store:
        found = findings(digits, database=store)
    every = {(one.new.library, one.change.id): one.change for one in found.findings}
    if len(every) != 1 or found.more:
        listed = ", ".join(identity for _, identity in sorted(every)[:3])
        raise Refusal(
            "AMBIGUOUS_REF", f"several findings begin with {brief(digits, 80)}", f"give more digits: {listed}"
        )
    (((library, _), change),) = every.items()
    return library, change


@tool("Accept breaks", writes=True, asks=_question)
def abi_approve(
    call: Call,
    *,
    finding_ids: Annotated[list[str], like(FindingIdentities), Field(json_schema_extra={"maxItems": MOST})],
    reason: Annotated[ApprovalReason, Field(min_length=1)],
    ticket: Ticket = "",
    until: Until = "",
    scope: Scope = "",
    target: ApprovedTarget = "",
    profile: ApprovedProfile = "",
    state: Annotated[ApprovalWish, described("withdrawn removes it")] = "approved",
    comparison_id: FoundIn = None,
) -> ApproveAnswer:
    """Accept breaks, so that gates let them through and say who decided. The user is asked. The verdict stays.

    It holds until the facts of a finding change. Missing evidence cannot be approved.
    """
    question = call.decided or _question(call, **call.arguments)
    if state == "withdrawn":
        said = withdrawn(call, question, reason, scope)
        return _answer(call, question.facts["library"], said, "WITHDRAWN", comparison_id)
    library, wanted = _found(call, question.facts["ids"].split(), comparison_id)
    if (held := question.facts["held"]) != _held(call, library, wanted):
        raise Refusal("VERSION_CONFLICT", "other approvals hold by now", "ask again: somebody approved or withdrew")
    plan = ApprovalPlan(
        reason,
        ticket,
        call.actor,
        until,
        scope or "forever",
        library,
        call.actor,
        origin="" if call.decided else NOBODY_ASKED,
        target=question.facts["target"],
        profile=question.facts["profile"],
        replace=call.decided is not None and bool(held),
    )
    with call.writing() as store:
        done = approve(wanted, plan, database=store)
    became = "APPROVED" if any(one.changed for one in done) else "UNCHANGED"
    return _answer(call, library, [one.approval for one in done], became, comparison_id)


def _answer(
    call: Call, library: str, said: Sequence[Approval], became: str, comparison_id: str | None
) -> ApproveAnswer:
    first = said[0]
    about = {"comparison_id": comparison_id} if comparison_id else {"library": library}
    return ApproveAnswer(
        headline=f"{became}: {counted(len(said), 'break')} of {library}",
        created=became != "UNCHANGED",
        library=library,
        finding_ids=tuple(dict.fromkeys(one.identity for one in said)),
        approver=brief(first.approver),
        scope=first.scope,
        target=first.target or EVERY_TARGET,
        until=first.until,
        decided_by="user" if call.decided else "caller",
        next=(asking("abi_gate", "See whether the gate passes now.", **about),),
    )
