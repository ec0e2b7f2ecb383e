"""Approvals that are taken back, which a person decides as they do what is approved."""

from __future__ import annotations

from abistore.interface import Approval, OpenStore, WithdrawalPlan, approvals, withdraw
from abistore.mcp.answers.answer import brief
from abistore.mcp.call import Call
from abistore.mcp.questions import Question
from abistore.mcp.refusals import Code, Refusal
from abistore.model.judging.approvals import in_words
from abistore.model.words.characters import in_line
from abistore.model.words.counting import counted

LONG = 200


def withdrawal_question(call: Call, digits: list[str], reason: str, scope: str, library: str | None) -> Question:
    """What a person is asked before gates close again."""
    with call.store() as store:
        found = _approved(store, digits, scope, library)
    named = found[0].library
    text = (
        f"Take back {counted(len(found), 'approval')} of {named}, so that gates fail for the findings again? "
        f"{'; '.join(map(_told, found))}. Reason given: {in_line(reason, LONG)!r}"
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
        raise Refusal("INVALID_ARGUMENT", f"approvals of {', '.join(names)}", "take back those of one at a time")
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


def _told(one: Approval) -> str:
    facts = one.facts
    what = f"{facts.kind} {brief(facts.symbol, 80)!r} " if facts else ""
    return f"{what}[{one.identity}] approved {in_line(in_words(one), LONG)}: {in_line(one.reason, LONG)!r}"
