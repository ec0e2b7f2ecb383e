"""Verdicts about stored releases: remembered ones, or judged now and remembered."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import SnapshotNotFound, StoreError
from abistore.model.findings import Churn, Comparison, FailOn, RulingKey
from abistore.model.history import Release, StoredVerdict
from abistore.model.judging.bump import AllowRule
from abistore.model.judging.engine import ENGINE
from abistore.report.model import Report
from abistore.service.approvals.gate import with_said
from abistore.service.consumers.naming import with_consumers
from abistore.service.consumers.planning import allow_plan
from abistore.service.database import Database, asker, line_target, using
from abistore.service.deprecations.deprecations import early_removals, moment
from abistore.service.judging.counterparts import counterpart
from abistore.service.judging.evidence import EvidenceRequirement, usual
from abistore.service.judging.judging import concluded, gated, report
from abistore.service.judging.maintainers import stated
from abistore.service.judging.predecessors import beside_itself, passed_over

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class Judgement(msgspec.Struct, frozen=True):
    """The report of two stored releases, and the verdict to store; ``remembered`` if it was read from the store."""

    report: Report
    given: StoredVerdict
    remembered: bool


def verdict(
    reference: str,
    *,
    against: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    fail_on: FailOn = "api_break",
    require: EvidenceRequirement | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    allow: AllowRule = "scheme",
    deprecation: DeprecationWindow | None = None,
    consumers: bool = False,
) -> Judgement:
    """The verdict about a stored release against ``baseline[:channel]``, a version of its line, or the one before.

    It is judged now and stored, unless it was before. With ``against``, the release must have no less evidence than the
    other side, unless ``require`` says otherwise. ``allow`` says which releases may break, by default as the line's
    scheme promises, and ``deprecation`` for how long what a release removes must have been deprecated. Neither these
    nor findings that are approved ``today`` fail it. With ``consumers``, each break has the stored programs that it
    hurts. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        other = counterpart(store, release, "prev" if against is None else against)
        judgement = _told(store, judged(store, other, release, by=by), against, today)
        if consumers:
            sides = store.load(other), store.load(release)
            judgement = msgspec.structs.replace(judgement, report=with_consumers(store, judgement.report, sides))
        judgement = _noted(judgement, tuple(stated(judgement.report, other.provenance, release.provenance)))
        plan = allow_plan(store, other, release.soname, release.provenance, allow)
        if deprecation is not None:
            early = early_removals(store, judgement.report, other, moment(release), deprecation)
            plan = msgspec.structs.replace(plan, early=early)
        if against in {None, "prev"}:
            judgement = _noted(judgement, passed_over(store, other, release.version))
        if other == release:
            judgement = _noted(judgement, (beside_itself(release),))
    remember(database, judgement)
    required = usual(against, fail_on) if require is None else require
    return msgspec.structs.replace(judgement, report=gated(judgement.report, fail_on, required, plan))


def remembered(
    reference: str,
    *,
    against: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Judgement:
    """The verdict that :func:`verdict` gave before, by the strict policy; nothing is judged.

    Raises :class:`SnapshotNotFound` where the store has none.
    """
    with using(database) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        other = counterpart(store, release, "prev" if against is None else against)
        found = _told(store, _recalled(store, other, release), against)
        plan = allow_plan(store, other, release.soname, release.provenance)
    return msgspec.structs.replace(found, report=gated(found.report, "api_break", allow=plan))


def verdict_between(old: Release, new: Release, *, database: Database = None, judge: bool = True) -> Judgement:
    """The verdict about two releases that the store gave, by the strict policy. No other release adds to its cost.

    With ``judge=False`` nothing is judged: raises :class:`SnapshotNotFound` where the store has no verdict. What people
    said of findings is left out: :func:`abistore.service.approvals.gate.with_approvals` adds it.
    """
    with using(database) as store:
        judgement = judged(store, old, new) if judge else _recalled(store, old, new)
    remember(database, judgement)
    return judgement


def _noted(judgement: Judgement, notes: tuple[str, ...]) -> Judgement:
    told = msgspec.structs.replace(judgement.report, notes=(*judgement.report.notes, *notes))
    return msgspec.structs.replace(judgement, report=told)


def _told(store: Store, judgement: Judgement, against: str | None = None, today: date | None = None) -> Judgement:
    """A judgement with what people said of its findings."""
    given = judgement.given
    line, old = given.new.line, given.old
    told = with_said(store, judgement.report, line.library, old=old, profile=line.profile, against=against, today=today)
    return msgspec.structs.replace(judgement, report=told)


def _recalled(store: Store, old: Release, new: Release) -> Judgement:
    """What the store remembers. Raises :class:`SnapshotNotFound`."""
    found = store.find_verdict(old, new, RulingKey(), str(ENGINE))
    if found is None:
        message = f"{new.reference} was not judged against {old.version} yet"
        raise SnapshotNotFound(message, f"judge it with `abistore verdict {new.reference}`")
    before, after = store.load_many([old, new])
    return Judgement(report(found.comparison, found.churn, (before, after)), found, True)


def judged(store: Store, old: Release, new: Release, by: Ruling | None = None) -> Judgement:
    """The verdict about two stored releases by today's rules and a ruling; from the store if it has it."""
    found = store.find_verdict(old, new, key_of(by, old, new), str(ENGINE))
    before, after = store.load_many([old, new])
    given = found or given_now(old, new, *concluded(before, after, by))
    shown = _with_files(given.comparison, by)
    return Judgement(report(shown, given.churn, (before, after)), given, found is not None)


def key_of(by: Ruling | None, old: Release, new: Release) -> RulingKey:
    """What a verdict about two releases by a ruling, or by the strict policy, is stored under."""
    return by.between(old.version, new.version).key if by else RulingKey()


def _with_files(comparison: Comparison, by: Ruling | None) -> Comparison:
    """A remembered comparison with the files of this ruling; it may be stored from other files that say the same."""
    if by is None:
        return comparison
    return msgspec.structs.replace(comparison, policy_file=by.policy.file, suppression_files=by.suppressions.files)


def given_now(old: Release, new: Release, comparison: Comparison, churned: Churn) -> StoredVerdict:
    """A verdict that is given now, to be stored."""
    return StoredVerdict(old, new, comparison, churned, datetime.now(UTC), asker())


def remember(database: Database, judgement: Judgement) -> None:
    """Store a judgement that was made now. If the database cannot be written, nothing is stored; that is no failure."""
    if not judgement.remembered:
        with suppress(StoreError), using(database, write=True, upgrade=False) as store:
            store.save_verdicts([judgement.given])


class VerdictKeeper:
    """Stores verdicts a few at a time as they are given, so that an interrupted history loses little.

    If the database cannot be written, none is stored; that is no failure.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: list[StoredVerdict] = []
        self._since = monotonic()
        self._stack = ExitStack()
        self._store: Store | None = None
        self._refused = False

    def __enter__(self) -> VerdictKeeper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            self._flush()

    def keep(self, given: StoredVerdict) -> None:
        """Store ``given`` with the next few."""
        self._pending.append(given)
        if len(self._pending) >= MOST_PENDING or monotonic() - self._since >= SECONDS_PENDING:
            self._flush()

    def pending(self, old: Release, new: Release) -> StoredVerdict | None:
        """The verdict about two releases that is not stored yet; ``None`` where it is, or was never given."""
        return next((one for one in self._pending if (one.old, one.new) == (old, new)), None)

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        self._since = monotonic()
        if self._refused or not pending:
            return
        try:
            if self._store is None:
                self._store = self._stack.enter_context(using(self._database, write=True, upgrade=False))
            self._store.save_verdicts(pending)
        except StoreError:
            self._refused = True


MOST_PENDING, SECONDS_PENDING = 50, 0.5
"""One transaction stores this many verdicts, or those of this many seconds."""
