"""Approving breaks, and withdrawing that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import Sighting
from abistore.model.judging.approvals import EVERY_TARGET, FOREVER, Approval, ApprovedFacts, in_force, in_words
from abistore.model.judging.identity import covered, may_begin
from abistore.model.labels.blanks import Given
from abistore.report.model import ReportedFinding
from abistore.service.approvals.terms import (
    check_finding,
    check_to_come,
    idle,
    profile_of,
    scope_of,
    target_of,
    until_of,
)
from abistore.service.approvals.undone import stood_at
from abistore.service.database import Database, line_target, user, using
from abistore.service.history.findings import meant
from abistore.service.labels import check_note

if TYPE_CHECKING:
    from abistore.store.store import Store


class ApprovalPlan(Given, frozen=True):
    """Why a break is accepted, by whom, where and until when.

    ``scope`` is ``forever``, ``release[:VERSION]`` (alone: the one that has the finding) or ``branch[:CHANNEL]``.
    ``until`` is a day, a version or a SONAME: the last that it holds for. ``approver`` decides, by default the user;
    ``actor`` writes it down. ``library`` is where the finding was found; else a stored verdict tells that. ``today`` is
    the day by which an end that is over is refused. ``target`` is the one that it holds on, or ``all``, and ``profile``
    the build profile; each may be left out for a library that is stored for one. ``replace`` lets it take the place of
    what was approved on other terms.
    """

    reason: str = ""
    ticket: str = ""
    approver: str = ""
    until: str = ""
    scope: str = FOREVER
    library: str | None = None
    actor: str = ""
    origin: str = ""
    today: date | None = None
    target: str = ""
    profile: str = ""
    replace: bool = False

    def check(self) -> None:
        """Raise :class:`UsageError` for an approval without a reason, and for words that are no line of text."""
        for what in ("reason", "ticket", "approver", "actor", "origin"):
            check_note(what, getattr(self, what))
        if not self.reason.strip():
            raise UsageError("no reason is given", "say why in --reason: who reads a report later has nothing else")


class ApprovedBreak(msgspec.Struct, frozen=True):
    """What holds of a finding now; ``changed`` where something else did before.

    ``remark`` says why it lets nothing through yet: it is over for the release that has the finding, or is for a
    channel that has no baseline. Of a withdrawal it says what brings the approval back. ``replaced`` held before.
    """

    approval: Approval
    changed: bool
    remark: str = ""
    replaced: tuple[Approval, ...] = ()


class WithdrawalPlan(Given, frozen=True):
    """Why what was approved is taken back, and by whom. The other words choose where several match."""

    reason: str = ""
    library: str | None = None
    scope: str | None = None
    actor: str = ""
    target: str | None = None
    profile: str | None = None


def approve(
    findings: str | Sequence[str | ReportedFinding], plan: ApprovalPlan, *, database: Database = None
) -> tuple[ApprovedBreak, ...]:
    """Accept findings, each called by its identity or the first digits of it: all are written down, or none.

    No verdict changes: a gate lets the findings through for as long as this holds, and says so. A short identity is
    that of a finding in a stored verdict; a finding of a report stands for itself, and needs ``plan.library``. Raises
    :class:`SnapshotNotFound`, :class:`UsageError`, also where something else holds and ``plan.replace`` is not said.
    """
    plan.check()
    named = [findings] if isinstance(findings, str) else list(findings)
    if not named:
        raise UsageError("no finding is named", "`abistore verdict REFERENCE -v` shows identities")
    with using(database, write=True) as store, store.transaction():
        said = [_approval(store, one, plan) for one in dict.fromkeys(named)]
        replaced = [_replaced(store, one, plan.replace) for one, _ in said]
        written = _written(store, [one for one, _ in said])
        told = zip(written, said, replaced, strict=True)
        return tuple(msgspec.structs.replace(one, remark=about, replaced=gone) for one, (_, about), gone in told)


def _replaced(store: Store, said: Approval, allowed: bool) -> tuple[Approval, ...]:
    """What holds of the same finding on other terms, and does not any more from now on.

    Raises :class:`UsageError` where that is not ``allowed``. What was approved before the library went on is renewed.
    """
    standing = [one for one in in_force(store.approvals()) if one.about == said.about]
    if any(one.terms == said.terms for one in standing):
        return ()
    held = next((one for one in standing if one.stood_at == said.stood_at), None)
    if held is not None and not allowed:
        raise UsageError(
            f"{held.library} {held.identity} is approved {in_words(held)}: {held.reason}",
            "pass --replace to put this in its place, or withdraw it first",
        )
    return tuple(standing)


def _approval(store: Store, named: str | ReportedFinding, plan: ApprovalPlan) -> tuple[Approval, str]:
    """What is approved, and what to remark of it."""
    told = named if isinstance(named, ReportedFinding) else None
    library, identity, sighting = meant(store, told.id if told else str(named).lower(), plan.library)
    facts = _facts_in(told) if told else facts_of(sighting) if sighting else None
    check_finding(identity, facts)
    until = until_of(plan.until, store.scheme(library))
    day = plan.today or datetime.now(UTC).date()
    check_to_come(until, day)
    target = target_of(store, library, plan.target)
    profile = profile_of(store, library, target, plan.profile)
    said = Approval(
        library,
        identity,
        facts,
        scope_of(plan.scope, sighting.new.version if sighting else None),
        until,
        plan.reason.strip(),
        plan.ticket.strip(),
        _named(plan.approver),
        plan.actor or user(),
        datetime.now(UTC),
        plan.origin,
        target=target,
        stood_at=stood_at(store, library, target, profile),
        profile=profile,
    )
    return said, idle(store, said, sighting.new if sighting else None, day)


def facts_of(sighting: Sighting) -> ApprovedFacts:
    """What a stored finding says."""
    found = sighting.finding
    values = found.old_value, found.new_value
    return ApprovedFacts(found.kind, found.name.kind, found.name.spelling, found.part, *values, covered(found))


def _facts_in(told: ReportedFinding) -> ApprovedFacts:
    values = told.old_value, told.new_value
    return ApprovedFacts(told.kind, told.subject, told.symbol, told.part, *values, told.covers)


def _named(approver: str) -> str:
    named = approver.strip() or user()
    if not named:
        raise UsageError("nobody approves this", "name who decided it: --approver")
    return named


def _written(store: Store, said: Sequence[Approval]) -> tuple[ApprovedBreak, ...]:
    return tuple(ApprovedBreak(one, changed) for one, changed in zip(said, store.approve(said), strict=True))


def withdraw(
    findings: str | Sequence[str], plan: WithdrawalPlan, *, database: Database = None
) -> tuple[ApprovedBreak, ...]:
    """Take back what was approved of findings, in every scope unless one is named. The ledger keeps both.

    Raises :class:`SnapshotNotFound` where nothing of this identity is approved, :class:`UsageError`.
    """
    ApprovalPlan(reason=plan.reason, actor=plan.actor).check()
    actor = plan.actor or user()
    with using(database, write=True) as store, store.transaction():
        standing = [one for one in in_force(store.approvals()) if plan.library in {None, one.library}]
        target = "" if plan.target == EVERY_TARGET else line_target(store, plan.target)
        found = [
            each
            for digits in dict.fromkeys([findings] if isinstance(findings, str) else findings)
            for each in _withdrawn(standing, digits.lower(), (plan.scope, target, plan.profile))
        ]
        changes = {"withdrawn": True, "reason": plan.reason.strip(), "actor": actor, "approver": actor}
        changes |= dict.fromkeys(("until", "ticket"), "")
        now = datetime.now(UTC)
        said = [
            msgspec.structs.replace(each, **changes, approved=now, origin=each.origin if each.project else "")
            for each in found
        ]
        done = zip(_written(store, said), found, strict=True)
        return tuple(msgspec.structs.replace(one, remark=_said_by_file(before)) for one, before in done)


def _said_by_file(one: Approval) -> str:
    """What brings an approval back that is withdrawn: the reviewed file that it came from."""
    file = one.origin.removeprefix("file ")
    again = f"take it out of {file} too, or the next `abistore approvals sync` approves it again"
    return again if one.project else ""


def _withdrawn(standing: Sequence[Approval], digits: str, wanted: tuple[str | None, ...]) -> list[Approval]:
    """The approvals of the one finding whose identity begins so. ``wanted`` are a scope, a target and a profile."""
    found = [one for one in standing if may_begin(digits) and one.identity.startswith(digits)]
    found = [
        one
        for one in found
        if all(each in {None, said} for each, said in zip(wanted, (one.scope, one.target, one.profile), strict=True))
    ]
    meant_by = sorted({(one.library, one.identity) for one in found})
    if not found:
        raise SnapshotNotFound(f"nothing approved is called {digits}", "`abistore approvals list` shows what is")
    if len(meant_by) > 1:
        listed = ", ".join(f"{identity} of {library}" for library, identity in meant_by[:3])
        raise UsageError(f"{digits}: several approved findings begin so", f"give more digits, or --library: {listed}")
    return found
