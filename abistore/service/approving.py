"""Approving breaks and withdrawing that, the ledger of accepted breaks, and the terms of an approval."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.approvals import (
    EVERY_TARGET,
    FOREVER,
    Approval,
    ApprovedFacts,
    GatePlace,
    called_by_facts,
    in_force,
    in_words,
    state_at,
)
from abistore.model.declarations import Name
from abistore.model.findings import PLACE_SIZE, covered, is_whole, may_begin
from abistore.model.history import DEFAULT_CHANNEL, DEFAULT_PROFILE, Release, Sighting
from abistore.model.labels import AUTO, Given, check_not_blank
from abistore.model.versions import EVERY_PROFILE, check_version
from abistore.patterns import pattern
from abistore.report.model import ReportedFinding
from abistore.service.approved_gates import stood_at
from abistore.service.database import Database, line_target, user, using
from abistore.service.declarations import display
from abistore.service.log import meant
from abistore.service.snapshots import check_label, check_note

if TYPE_CHECKING:
    from abistore.store.store import Store

DAY = pattern(r"\d{4}-\d{2}-\d{2}")
SONAME = pattern(r".+\.(?:so|dylib|dll)(?:\..*)?")
SCOPES = "release:VERSION, branch:CHANNEL or forever"
KINDS = ("date", "version", "soname")


def scope_of(text: str, version: str | None = None) -> str:
    """A scope in full: ``release`` alone means ``version``, ``branch`` alone the default channel.

    Raises :class:`UsageError`.
    """
    word, colon, named = text.strip().partition(":")
    if word == FOREVER and not colon:
        return FOREVER
    if colon:
        check_not_blank(f"what --scope says behind {word}:", named)
    named = named or {"release": version or "", "branch": DEFAULT_CHANNEL}.get(word, "")
    if word not in {"release", "branch"} or not named:
        told = "no stored release has the finding" if word == "release" else f"not a scope: {text[:40]!r}"
        raise UsageError(told, f"give {SCOPES}")
    check_label("version" if word == "release" else "channel", named)
    return f"{word}:{named}"


def target_of(store: Store, library: str, text: str) -> str:
    """A target in full, and empty for ``all``. It may be left out where the library is stored for one only.

    Raises :class:`UsageError` where it is left out and several are stored: what is harmless on one may break another.
    """
    if text.strip():
        return "" if text == EVERY_TARGET else line_target(store, text.strip()) or ""
    known = sorted({line.target for line in store.lines() if line.library == library})
    if len(known) > 1:
        hint = f"--target {EVERY_TARGET}, or one of {', '.join(known)}"
        raise UsageError(f"{library} is stored for {len(known)} targets; select one", hint)
    return known[0] if known else ""


def profile_of(store: Store, library: str, target: str, text: str) -> str:
    """A build profile. It may be left out where the library is stored in one only.

    Raises :class:`UsageError` where it is left out and there are several: what no debug build needs may break others.
    """
    if named := text.strip():
        if named != EVERY_PROFILE:
            check_label("profile", named)
        return named
    known = sorted({line.profile for line in store.lines() if line.library == library and target in {"", line.target}})
    if len(known) > 1:
        hint = f"--profile {EVERY_PROFILE}, or one of {', '.join(known)}"
        raise UsageError(f"{library} is stored in {len(known)} build profiles; select one", hint)
    return known[0] if known else DEFAULT_PROFILE


def until_of(text: str, scheme: str = AUTO) -> str:
    """The end of an approval with what it is: ``date:2026-12-31``, ``version:2.1``, ``soname:libfoo.so.1``.

    The word may be left out where the text tells. Raises :class:`UsageError` for what is none, or no version that
    ``scheme`` can order.
    """
    if not text:
        return ""
    check_not_blank("--until", text)
    said = text.strip()
    word, marked, last = said.partition(":")
    if not marked or word not in KINDS:
        word = "date" if DAY.fullmatch(said) else "soname" if SONAME.fullmatch(said) else "version"
        last = said
    check_not_blank(f"what --until says behind {word}:", last)
    if word == "date":
        return f"date:{_day(last).isoformat()}"
    if word == "version":
        check_label("version", last)
        check_version(last, scheme)
    elif not last.isprintable() or not last.strip():
        raise UsageError(f"not a SONAME: {last[:40]!r}", "give it as `abistore show` does: soname:libfoo.so.1")
    return f"{word}:{last}"


def check_to_come(until: str, today: date) -> None:
    """Raise :class:`UsageError` for an end that is a day of the past."""
    word, _, last = until.partition(":")
    if word == "date" and date.fromisoformat(last) < today:
        raise UsageError(f"the end {last} is in the past", "use a future date, or omit it")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"not a date: {text[:40]!r}", "write it as 2027-01-31") from error


def idle(store: Store, said: Approval, found_in: Release | None, today: date) -> str:
    """Why an approval lets nothing through by now, of the release that has the finding; empty where it does.

    An end that is over already, a target or a channel without a baseline, is misspelled more often than it is meant.
    """
    if said.target and said.target not in {line.target for line in store.lines() if line.library == said.library}:
        return f"{said.library} is not stored for {said.target} yet"
    if said.profile not in {EVERY_PROFILE, *(line.profile for line in store.lines() if line.library == said.library)}:
        return f"{said.library} is not stored in the build profile {said.profile} yet"
    scope, _, named = said.scope.partition(":")
    if scope == "branch" and named not in {move.channel for move in store.baselines(said.library)}:
        return f"{said.library} has no baseline {named} yet"
    if (
        found_in is None
        or said.target not in {"", found_in.line.target}
        or said.profile not in {EVERY_PROFILE, found_in.line.profile}
        or (scope == "release" and named != found_in.version)
    ):
        return ""
    line = found_in.line
    at = GatePlace(
        today, found_in.version, found_in.soname, named, store.scheme(said.library), line.target, line.profile
    )
    if state_at(said, at) != "expired":
        return ""
    return f"that has expired for {found_in.version}, which has the finding"


def check_finding(called: str, facts: ApprovedFacts | None) -> None:
    """Raise :class:`UsageError` for what is no identity, and where it stands for another finding than is said."""
    if not is_whole(called):
        raise UsageError(f"not the identity of a finding: {called[:40]!r}", "use all of its twenty digits")
    if facts is None:
        return
    if called_by_facts(facts, facts.covers or ()) != called.partition("-")[0]:
        raise UsageError(
            f"{called} does not match its facts: {facts.kind} of {facts.symbol[:80]!r}",
            "copy identity and values from the same report, like `abistore approve export`",
        )


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
            raise UsageError("no reason is given", "pass --reason: later readers of a report have nothing else")


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
        raise UsageError("the approver is missing", "pass --approver with the person who decided")
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
    again = f"remove it from {file} too, or the next `abistore approve sync` approves it again"
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
        raise SnapshotNotFound(f"no approved finding {digits}", "`abistore approve list` shows approved findings")
    if len(meant_by) > 1:
        listed = ", ".join(f"{identity} of {library}" for library, identity in meant_by[:3])
        raise UsageError(
            f"{digits}: several approved findings begin with this", f"give more digits, or --library: {listed}"
        )
    return found


LedgerState: TypeAlias = Literal["holds", "expired", "changed", "unused", "withdrawn", "replaced"]
PAST: frozenset[LedgerState] = frozenset({"withdrawn", "replaced"})
"""What becomes only of approvals that do not stand any more."""


class LedgerEntry(msgspec.Struct, frozen=True):
    """An approval and what has become of it.

    ``expired``: no latest release may use it any more. ``changed``: stored comparisons have the finding with other
    facts only, so that it has to be approved again. ``unused``: none has a finding in its place. ``replaced``: what
    was said later of the same finding holds. ``found_in`` is the stored comparison that had the finding first.
    """

    approval: Approval
    state: LedgerState
    found_in: str = ""

    @property
    def called(self) -> str:
        """What was approved, as a programmer calls it."""
        facts = self.approval.facts
        return display(Name(facts.subject, facts.symbol), ()) if facts else ""


def approvals(
    library: str | None = None,
    *,
    past: bool = False,
    states: Collection[LedgerState] = (),
    today: date | None = None,
    database: Database = None,
) -> tuple[LedgerEntry, ...]:
    """What is approved in one library, or in all, with what that replaced; with ``past`` all that ever was.

    The past comes oldest first. ``states`` chooses those of which this has become, past ones too where it names them;
    none means all.
    """
    check_not_blank("the library", library)
    day = today or datetime.now(UTC).date()
    with using(database) as store, store.reading():
        said = [one for one in store.approvals() if library in {None, one.library}]
        standing = in_force(said)
        listed = said if past or not PAST.isdisjoint(states) else (*standing, *_replaced_approvals(said, standing))
        places = {name: tuple(_places(store, name, day)) for name in {one.library for one in listed}}
        entries = (_entry(store, one, one in standing, places[one.library]) for one in listed)
        return tuple(one for one in entries if not states or one.state in states)


def _replaced_approvals(said: Iterable[Approval], standing: Sequence[Approval]) -> Iterator[Approval]:
    """What holds no more because something else was approved of the same finding, which stands."""
    found: dict[tuple[str, ...], list[Approval]] = {}
    for one in said:
        spoken = found.setdefault(one.about, [])
        if one.withdrawn:
            spoken[:] = [each for each in spoken if one.project and each.project != one.project]
        else:
            spoken.append(one)
    for one in standing:
        yield from (each for each in found.pop(one.about, ()) if each not in standing)


def _places(store: Store, library: str, today: date) -> Iterator[GatePlace]:
    scheme = store.scheme(library)
    for line in sorted(key for key in store.lines() if key.library == library):
        latest = store.foremost(store.releases(library, line.target, line.profile))[-1:]
        for release in latest:
            yield GatePlace(today, release.version, release.soname, None, scheme, line.target, line.profile)


def _entry(store: Store, one: Approval, stands: bool, places: tuple[GatePlace, ...]) -> LedgerEntry:
    if not stands:
        return LedgerEntry(one, "withdrawn" if one.withdrawn else "replaced")
    found, _ = store.findings(one.identity, 1)
    if one.facts is None and found:
        one = msgspec.structs.replace(one, facts=facts_of(found[0]))
    found_in = f"{found[0].old.version} -> {found[0].new.version}" if found else ""
    anywhere = msgspec.structs.replace(one, scope="forever")
    if places and all(state_at(anywhere, place) == "expired" for place in places):
        return LedgerEntry(one, "expired", found_in)
    if found:
        return LedgerEntry(one, "holds", found_in)
    same_place, _ = store.findings(one.identity[: 2 * PLACE_SIZE], 1)
    return LedgerEntry(one, "changed" if same_place else "unused")
