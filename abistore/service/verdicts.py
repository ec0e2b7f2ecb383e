"""Verdicts about stored releases: remembered, or judged one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, date, datetime
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import DamagedStore, Incomparable, InputError, SnapshotNotFound, StoreError
from abistore.limits import limits_for
from abistore.model.decision import AllowRule
from abistore.model.declarations import FACETS, Facet, Name
from abistore.model.findings import ENGINE, Churn, Comparison, FailOn, RulingKey, Verdict, evidence_rank
from abistore.model.format_gaps import common_ground, unlike
from abistore.model.history import Release, StoredVerdict
from abistore.model.snapshot import Snapshot
from abistore.model.structure import without_cycle_collection
from abistore.report.model import Report
from abistore.report.wording import named
from abistore.service import ASKER, PROGRAM
from abistore.service.approved_gates import with_said
from abistore.service.binding import evidence_for, names_for, rule_for, ruled
from abistore.service.consumers import allow_plan, with_consumers
from abistore.service.database import Database, line_target, user, using
from abistore.service.decision import DecisionRequest, check_options, compared_as, decided
from abistore.service.judging import EvidenceRequirement, churn, concluded, report, stated, usual
from abistore.service.log import early_removals, moment, with_origins
from abistore.service.predecessors import (
    UsualCounterpart,
    beside_itself,
    counterpart,
    earlier_of_soname,
    passed_over,
    usual_counterpart,
)

if TYPE_CHECKING:
    from abistore.diffing.judge.successive import JudgedAgainst
    from abistore.diffing.reuse import Differing
    from abistore.diffing.side import SideFacts
    from abistore.model.rules import BoundRule
    from abistore.model.versions import DeprecationWindow
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.timeline import ReturnedExport
    from abistore.store.walking import Lifetimes, LineWalk


class SideWalk:
    """Sides of comparisons, of the releases of one line in any order: the nearer to the last one, the cheaper.

    ``changed`` are the names in which the last one differs from the one before, in any facet.
    """

    def __init__(self, store: Store, walk: LineWalk | None = None) -> None:
        self._walk = store.walk() if walk is None else walk
        self._at: tuple[Release, SideFacts] | None = None
        self.changed: frozenset[Name] = frozenset()

    def lifetimes(self, releases: Sequence[Release]) -> Lifetimes:
        """The lives of the names that were met, by the line's releases in release order."""
        return self._walk.lifetimes(releases)

    def at(self, release: Release) -> bool:
        """Whether ``release`` is the last one."""
        return self._at is not None and self._at[0] == release

    def go(self, release: Release) -> SideFacts:
        """What is known of a release; derived from the last one, which stays as it is. Raises :class:`DamagedStore`."""
        from abistore.diffing.side import SideFacts

        if self._at is not None and self._at[0] == release:
            return self._at[1]
        step = self._walk.step(release)
        if self._at is None:
            side = SideFacts(step.snapshot, step.files)
        else:
            side = self._at[1].after(step.snapshot, step.changed, step.files)
        self._at, self.changed = (release, side), step.changed
        return side


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
    witness: bool = False,
) -> Judgement:
    """The verdict about a stored release against ``baseline[:channel]``, a version of its line, or the one before.

    It is judged now and stored, unless it was before. The first release of a line is judged against itself, and its
    decision says that no release precedes it. With ``against``, the release must have no less evidence than the
    other side, unless ``require`` says otherwise. ``allow`` says which releases may break, by default as the line's
    scheme promises, and ``deprecation`` for how long what a release removes must have been deprecated. Neither these
    nor findings that are approved ``today`` fail it. With ``consumers``, each break has the stored programs that it
    hurts, and with ``witness`` a program that shows it. Raises :class:`SnapshotNotFound`.
    """
    asked = _Asked(against, fail_on, require, by, today, allow, deprecation, consumers)
    with using(database) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        rule = rule_for(store, names_for(release.line.library, release.soname))
        check_options(rule, fail_on, allow)
        asked = asked._replace(by=ruled(rule, by, today), require=evidence_for(rule, require, usual(against, fail_on)))
        before = counterpart(store, release, "prev" if against is None else against)
        found = [_against(store, before, release, asked, rule)]
        if rule is not None and rule.since_soname:
            earlier = earlier_of_soname(store, release.line, release.version, release.soname, release)
            others = [each for each in earlier if each != before]
            found += [_against(store, each, release, asked._replace(against=each.version), rule) for each in others]
        answer = max(found, key=lambda each: bool(each.report.exit_code))  # the first that fails
        shown = _with_witnesses(store, answer) if witness else answer
    for each in found:
        remember(database, each)
    return shown


class _Asked(NamedTuple):
    """What is asked about a release, as :func:`verdict` takes it."""

    against: str | None
    fail_on: FailOn
    require: EvidenceRequirement | None
    by: Ruling | None
    today: date | None
    allow: AllowRule
    deprecation: DeprecationWindow | None
    consumers: bool


def _against(
    store: Store, before: Release | None, release: Release, asked: _Asked, rule: BoundRule | None
) -> Judgement:
    """The verdict about a release beside another one, with the decision; beside itself where there is no other."""
    other, against = before or release, asked.against
    judgement = _told(store, judged(store, other, release, by=asked.by), against, asked.today)
    judgement = msgspec.structs.replace(judgement, report=with_origins(store, judgement.report, other, release))
    if asked.consumers:
        sides = store.load(other), store.load(release)
        judgement = msgspec.structs.replace(judgement, report=with_consumers(store, judgement.report, sides))
    judgement = _noted(judgement, tuple(stated(judgement.report, other.provenance, release.provenance)))
    plan = allow_plan(store, other, release.soname, release.provenance, asked.allow)
    if asked.deprecation is not None:
        early = early_removals(store, judgement.report, other, moment(release), asked.deprecation)
        plan = msgspec.structs.replace(plan, early=early)
    if before is not None and against in {None, "prev"}:
        judgement = _noted(judgement, passed_over(store, other, release.version))
    if before == release:
        judgement = _noted(judgement, (beside_itself(release),))
    required = usual(against, asked.fail_on) if asked.require is None else asked.require
    why = compared_as(against) if before is not None else ("first", "")
    request = DecisionRequest(*why, asked.fail_on, required, plan, profile=release.line.profile, bound=rule)
    return msgspec.structs.replace(judgement, report=decided(judgement.report, request))


class UsualVerdict(msgspec.Struct, frozen=True):
    """The verdict about a stored release where nobody names the other side, which is ``meant``.

    There is none about the first release of a line.
    """

    meant: UsualCounterpart
    judgement: Judgement | None = None


def usual_verdict(
    reference: str, *, database: Database = None, target: str | None = None, profile: str | None = None
) -> UsualVerdict:
    """The verdict against the baseline, or against the release before where the baseline says nothing.

    Nothing says a later one, nor one that the release may break: a new SONAME since then lets everything pass, and
    programs meet what broke after it. Raises :class:`SnapshotNotFound`.
    """
    meant = usual_counterpart(reference, database=database, target=target, profile=profile)
    if not meant.word:
        return UsualVerdict(meant)
    judged = verdict(reference, against=meant.word, database=database, target=target, profile=profile)
    if meant.word == "prev" or judged.report.decision is None or judged.report.decision.code != "allowed":
        return UsualVerdict(meant, judged)
    base, new = judged.given.old, judged.given.new
    before = verdict(reference, database=database, target=target, profile=profile)
    if before.given.old in {base, new}:
        return UsualVerdict(meant, judged)
    why = f"{new.version} may break the baseline {base.version}: it is judged against the release before it"
    return UsualVerdict(UsualCounterpart("prev", before.given.old.reference, why), before)


def _with_witnesses(store: Store, judgement: Judgement) -> Judgement:
    from abistore.service.witnesses import with_stored_witnesses  # few ask for programs

    old, new = store.load_many([judgement.given.old, judgement.given.new])
    return msgspec.structs.replace(judgement, report=with_stored_witnesses(judgement.report, old, new))


def verdict_between(old: Release, new: Release, *, database: Database = None, judge: bool = True) -> Judgement:
    """The verdict about two releases that the store gave, by the strict policy. No other release adds to its cost.

    With ``judge=False`` nothing is judged: raises :class:`SnapshotNotFound` where the store has no verdict. What people
    said of findings is left out: :func:`abistore.service.approved_gates.with_approvals` adds it.
    """
    with using(database) as store:
        judgement = judged(store, old, new) if judge else _recalled(store, old, new)
    remember(database, judgement)
    return judgement


def _noted(judgement: Judgement, notes: tuple[str, ...]) -> Judgement:
    told = msgspec.structs.replace(judgement.report, notes=(*judgement.report.notes, *notes))
    return msgspec.structs.replace(judgement, report=told)


def _told(store: Store, judgement: Judgement, against: str | None = None, today: date | None = None) -> Judgement:
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
    return StoredVerdict(old, new, comparison, churned, datetime.now(UTC), _asker())


def _asker() -> str:
    """Who or what asks for a verdict: ``ana (abistore history)``, unless somebody said otherwise."""
    return ASKER.get() or f"{user()} ({PROGRAM.get()})"


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


class ConsecutiveJudge:
    """Judges releases of one line against the one before, and against a baseline.

    One pair is in memory at a time. After a failure the next release is judged from scratch. ``damaged`` says that the
    stored data of a release were damaged. A ``walk`` that nobody else uses any more is gone on with.
    """

    def __init__(self, store: Store, by: Ruling | None, walk: LineWalk | None = None) -> None:
        self._store = store
        self._walk = walk
        self._by = by
        self._base: tuple[Release, SideFacts] | None = None
        self.damaged = False
        self._forget()

    def _forget(self) -> None:
        walk, self._walk = self._walk, None
        self._sides = SideWalk(self._store, walk)
        self._from_base: Differing | None = None
        self._forget_baseline()

    def _forget_baseline(self) -> None:
        self._against: JudgedAgainst | None = None
        self._since: set[Name] = set()

    def beside(self, old: Release, new: Release) -> StoredVerdict | str:
        """The verdict about a release and the one before it, or why there is none."""
        from abistore.diffing.context import Context
        from abistore.diffing.judge.judged import compared
        from abistore.diffing.reuse import differing

        try:
            before, after = self._go(old), self._go(new)
            if unlike(old.evidence, new.evidence):
                return self._by_itself((old, before.snapshot), (new, after.snapshot))
            names = differing(before.snapshot, after.snapshot, self._sides.changed)
            context = Context(before, after, differing=names, cards=(old.side, new.side))
            with _bounded(before.snapshot, after.snapshot):
                comparison = compared(context, self._by)
        except (InputError, Incomparable, DamagedStore) as error:
            return self._failed(error)
        return given_now(old, new, comparison, churn(before.snapshot, after.snapshot, names))

    def against(self, base: Release, new: Release) -> StoredVerdict | str:
        """The verdict about a release and a baseline, or why there is none. Fastest in release order."""
        from abistore.diffing.judge.successive import JudgedAgainst

        try:
            old, after = self._go_to_base(base), self._go(new)
            if unlike(base.evidence, new.evidence):
                return self._by_itself((base, old.snapshot), (new, after.snapshot))
            names = self._differing_from(old, after)
            if self._against is None:
                self._against = JudgedAgainst(old, self._by)
            with _bounded(old.snapshot, after.snapshot):
                comparison = self._against.judge(after, self._since, names, (base.side, new.side))
            self._since = set()
        except (InputError, Incomparable, DamagedStore) as error:
            return self._failed(error)
        return given_now(base, new, comparison, churn(old.snapshot, after.snapshot, names))

    def sides(self, old: Release, new: Release) -> tuple[SideFacts, SideFacts]:
        """Both releases, without the facts that the other does not record."""
        from abistore.diffing.side import SideFacts

        before, after = self._sides.go(old), self._sides.go(new)
        if unlike(old.evidence, new.evidence):
            first, last = common_ground(before.snapshot, after.snapshot)
            return SideFacts(first), SideFacts(last)
        return before, after

    def _by_itself(self, old: tuple[Release, Snapshot], new: tuple[Release, Snapshot]) -> StoredVerdict:
        """The verdict about two releases, of which one records facts that the other does not.

        Nothing is taken on from one pair to the next: what both can say is another thing each time.
        """
        comparison, churned = concluded(old[1], new[1], self._by)
        return given_now(old[0], new[0], comparison, churned)

    def _go(self, release: Release) -> SideFacts:
        """What is known of a release; derived from the release before, which stays as it is."""
        if self._sides.at(release):
            return self._sides.go(release)
        side = self._sides.go(release)
        self._since |= self._sides.changed
        return side

    def _go_to_base(self, base: Release) -> SideFacts:
        if self._base is None or self._base[0] != base:
            self._base = base, self._go(base)
            self._from_base = None
            self._forget_baseline()
        return self._base[1]

    def _differing_from(self, base: SideFacts, new: SideFacts) -> Differing:
        """The names in which ``new`` differs from the baseline. Only what changed since last time is looked at."""
        from abistore.diffing.reuse import differing, renewed

        if self._from_base is None:
            self._from_base = differing(base.snapshot, new.snapshot)
        else:
            self._from_base = renewed(self._from_base, base.snapshot, new.snapshot, self._since)
        return self._from_base

    def _failed(self, error: InputError | Incomparable | DamagedStore) -> str:
        self.damaged = self.damaged or isinstance(error, DamagedStore)
        self._forget()
        return error.message


@contextmanager
def _bounded(old: Snapshot, new: Snapshot) -> Iterator[None]:
    with limits_for(old.weight + new.weight, f"judging {new.label} against {old.label}"), without_cycle_collection():
        yield


LISTED = 3


class StepVerdicts(NamedTuple):
    """A release with its verdict against the one before, and against ``base``; ``None`` where there is none."""

    release: Release
    base: Release | None
    step: Verdict | None
    whole: Verdict | None


def sentences(steps: Sequence[StepVerdicts], back: Sequence[ReturnedExport]) -> tuple[str, ...]:
    """The sentences about a line, in release order: exports that came back, then what stands against each base."""
    run = _Run(None)
    said: list[str] = []
    for step in steps:
        if step.base != run.base:
            run = _Run(step.base)
        returned = [each for each in back if each.back.sequence == step.release.sequence]
        said.extend(returns(returned))
        said.extend(run.go(step, {each.gone.version for each in returned}))
    return tuple(said)


class _Run:
    """The releases since a base: the worst step so far, and since when the base is broken how badly."""

    def __init__(self, base: Release | None) -> None:
        self.base = base
        self._worst: Verdict | None = Verdict.NO_CHANGE
        self._before: StepVerdicts | None = None
        self._since = ""

    def go(self, step: StepVerdicts, returned_from: Iterable[str]) -> Iterator[str]:
        """Take the next release into account."""
        if self.base is None:
            return
        before, self._before = self._before, step
        known = self._worst is not None and step.step is not None
        self._worst = max(self._worst or Verdict.NO_CHANGE, step.step or Verdict.NO_CHANGE) if known else None
        was = before.whole if before and before.whole is not None else Verdict.NO_CHANGE
        if step.whole is None:
            return
        if step.whole > was:
            if step.whole >= Verdict.API_BREAK:
                self._since = step.release.version
                if self._worst is not None and step.whole > self._worst:
                    yield whole_breaks((self.base.version, step.release.version), step.whole, self._worst)
        elif was >= Verdict.API_BREAK and step.whole < was and before and self._since not in returned_from:
            yield from self._restored(before, step.release)

    def _restored(self, before: StepVerdicts, release: Release) -> Iterator[str]:
        """That a release takes back a break, where it shows no less than the one before."""
        if self.base is not None and shown_by(before.release, release) == frozenset(FACETS):
            yield restores("", self._since, (self.base.version, release.version))


def whole_breaks(versions: tuple[str, str], verdict: Verdict, steps: Verdict) -> str:
    """The sentence about a break that no single step shows."""
    though = "each step is compatible" if steps < Verdict.API_BREAK else f"no step is worse than {steps.name}"
    return f"{versions[0]} -> {versions[1]} is {verdict.name} though {though}"


def restores(what: str, broken_by: str, versions: tuple[str, str]) -> str:
    """The sentence about a release that takes back what an earlier one breaks of a base."""
    base, last = versions
    if not what:
        return f"{last} restores what {broken_by} breaks for programs built against {base}"
    return f"{last} restores {what} for programs built against {base}, which {broken_by} breaks"


def returns(back: Iterable[ReturnedExport]) -> Iterator[str]:
    """The sentences about exports that came back: "1.4.0 restores f() and g(), which 1.3.0 removed"."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in back:
        groups.setdefault((each.gone.version, each.back.version), []).append(named(each.name.spelling))
    for (gone, version), names in groups.items():
        yield f"{version} restores {listed(names)}, which {gone} removed"


def shown_by(middle: Release, last: Release) -> frozenset[Facet]:
    """The facets of which the last release shows no less than the one before."""
    ranks = [{seen.facet: evidence_rank(seen) for seen in each.evidence} for each in (middle, last)]
    return frozenset(facet for facet in FACETS if ranks[1].get(facet, 0) >= ranks[0].get(facet, 0))


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    shown = list(names[:LISTED])
    if len(names) > LISTED:
        shown.append(f"{len(names) - LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
