"""The releases of a library with their verdicts and decisions, and which of them can replace which."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from abistore.errors import Incomparable, InputError, UsageError
from abistore.limits import limits_for
from abistore.model.approvals import Approval
from abistore.model.decision import Decision, Outcome
from abistore.model.declarations import Name
from abistore.model.findings import ENGINE, Comparison, Impact, RulingFile, RulingKey, Verdict, unequal_evidence
from abistore.model.history import (
    DEFAULT_CHANNEL,
    BaselineMove,
    LineKey,
    Progress,
    Release,
    StoredVerdict,
    VerdictSummary,
)
from abistore.model.statements import BaselineRole, is_supported, is_withdrawn
from abistore.model.structure import with_cycle_collection, without_cycle_collection
from abistore.model.versions import is_unreleased
from abistore.report.history import History as History
from abistore.report.history import HistoryRow as HistoryRow
from abistore.report.history import Matrix, MatrixRelease, UnjudgedPair
from abistore.report.model import SCHEMA, Report, Summary, VerdictName
from abistore.report.outline import evidence_gap, outline
from abistore.service.approved_gates import approved, day, of_library, place_between
from abistore.service.bisect import Broken, broken_by
from abistore.service.blame import AskedRelease, DepartureFinder, lacks
from abistore.service.consumers import allow_plan
from abistore.service.database import Database, using
from abistore.service.decision import DecisionRequest, compared_as, decide, first_release, not_judged
from abistore.service.judging import usual
from abistore.service.listing import (
    ListedLine,
    ListedRelease,
    channels_of,
    lines_of,
    listed_lines,
    place_of,
    promised,
    released,
    releases_of,
    stored_releases,
)
from abistore.service.log import early_removals, moment
from abistore.service.predecessors import Predecessors
from abistore.service.verdicts import ConsecutiveJudge, SideWalk, StepVerdicts, VerdictKeeper, key_of, sentences

if TYPE_CHECKING:
    from abistore.diffing.judge.successive import Replacing
    from abistore.diffing.side import SideFacts
    from abistore.model.history import Progress
    from abistore.model.versions import DeprecationWindow
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store


class Measure(NamedTuple):
    """A release to measure another by, and all reasons to do so."""

    against: Release
    roles: tuple[BaselineRole, ...]

    @property
    def supported(self) -> bool:
        """Whether its users must be able to take the other release."""
        return is_supported(self.against)


def measures_of(release: Release, earlier: Sequence[Release], moves: Sequence[BaselineMove]) -> tuple[Measure, ...]:
    """What a release is measured by, each baseline once: the previous one, the SONAME's first, then channels by name.

    ``earlier`` are the releases before it, ``moves`` those of its line's channels. Where the previous one or the first
    is not supported any more, the nearest supported one stands before it. Builds between releases are measured by the
    build before, and measure no release. A channel that stands at the release itself,
    or at a later one, measures it by where it stood before. One that was cleared measures nothing.
    """
    found: dict[str, Measure] = {}
    for role, version in _roles(release, earlier, moves):
        known = found.get(version)
        against = known.against if known else next(each for each in earlier if each.version == version)
        found[version] = Measure(against, (*(known.roles if known else ()), role))
    return tuple(found.values())


def standing_here(release: Release, moves: Sequence[BaselineMove]) -> tuple[str, ...]:
    """The channels that stand at a release."""
    if release.candidate:
        return ()
    return tuple(name for name, versions in _channels(moves) if versions[-1] == release.version)


def _roles(
    release: Release, earlier: Sequence[Release], moves: Sequence[BaselineMove]
) -> Iterator[tuple[BaselineRole, str]]:
    before = earlier if is_unreleased(release.version) else promised(earlier)
    yield from _nearest(BaselineRole("previous"), before[::-1])
    same = [each for each in earlier if release.recorded_name and each.recorded_name == release.recorded_name]
    named = BaselineRole("soname" if release.soname else "file_name")
    yield from _nearest(named, promised(same))
    there = {each.version for each in earlier}
    for channel, versions in _channels(moves):
        stood = next((version for version in reversed(versions) if version in there), None)
        if stood is not None:
            yield BaselineRole("channel", channel), stood


def _nearest(role: BaselineRole, releases: Sequence[Release]) -> Iterator[tuple[BaselineRole, str]]:
    """The first of some releases in a role, and before it the first that is still supported."""
    supported = next((each for each in releases if is_supported(each)), None)
    if supported is not None:
        yield role, supported.version
    if releases and releases[0] != supported:
        yield replace(role, passed_over=supported is not None), releases[0].version


def _channels(moves: Sequence[BaselineMove]) -> Iterator[tuple[str, list[str]]]:
    for channel in sorted({move.channel for move in moves}):
        versions = [move.version for move in moves if move.channel == channel]
        if versions[-1] is not None:
            yield channel, [version for version in versions if version is not None]


def history(
    library: str,
    *,
    channel: str = DEFAULT_CHANNEL,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
    judge: bool = True,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> tuple[History, ...]:
    """Every line of a library with its verdicts. Those that are missing are judged now and stored.

    With ``judge=False`` nothing is judged: a missing verdict is "not judged yet". ``today`` decides what of them is
    approved, and ``deprecation`` for how long what a release removes must have been deprecated.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        keys = lines_of(store, library, target, profile)
        judging = HistoryJudging(store, by, keeper, progress, judge, day(today), deprecation)
        return tuple(_history(store, key, channel, judging) for key in keys)


MOST_OPENED = 4
"""So many releases that broke the one before are looked at for whose programs they left behind; `ledger` does more."""

STRICT = RulingKey()
"""What verdicts are given by unless somebody names a policy or suppressions."""

UNJUDGED = "not judged yet"
"""Why there is no verdict where none is to be given."""


class HistoryJudging(NamedTuple):
    """How to judge a history: the ruling, what stores the verdicts, whom to tell the progress, and whether at all.

    With ``deprecation``, no release is allowed that removes what was not deprecated for so long.
    """

    store: Store
    by: Ruling | None
    keeper: VerdictKeeper
    progress: Progress | None
    judge: bool = True
    today: date = date.max
    deprecation: DeprecationWindow | None = None


def _history(store: Store, key: LineKey, channel: str, judging: HistoryJudging) -> History:
    stored = releases_of(store, key)
    baseline_version = channels_of(store, key).get(channel)
    baseline = next((one for one in stored if one.version == baseline_version), None)
    start = stored.index(baseline) if baseline else len(stored)
    verdicts = _Verdicts(key, judging)
    rows, steps = list[HistoryRow](), list[StepVerdicts]()
    first: dict[str | None, Release] = {}
    predecessors = Predecessors()
    for number, release in enumerate(stored):
        if judging.progress:
            judging.progress(f"{key.library} {release.version}", number / len(stored))
        previous = predecessors.of(release.version)
        predecessors.add(release)
        beside = verdicts.beside(previous, release) if previous else None
        against = verdicts.against(baseline, release) if baseline and number > start else None
        row = _row(release, (previous, beside), (baseline, against))
        decision = verdicts.decided(previous, release, beside)
        at_channel = f"baseline:{channel}"
        by_baseline = verdicts.decided(baseline, release, against, at_channel) if against is not None else None
        rows.append(msgspec.structs.replace(row, decision=decision, baseline_decision=by_baseline))
        base = baseline or first.setdefault(release.recorded_name, release)
        whole = against if baseline else verdicts.against(base, release) if base != release else None
        steps.append(StepVerdicts(release, base if whole else None, *map(_verdict_of, (beside, whole))))
    kept = store.candidates(key.library, key.target, key.profile)
    return History(
        key,
        channel,
        baseline.version if baseline else None,
        tuple(rows),
        kept,
        *_ruled(judging.by),
        damaged=verdicts.damaged,
        remarks=(
            *_passed_over(rows),
            *sentences(steps, store.returned_exports(key, stored)),
            *_lacks(stored, verdicts, judging),
        ),
        pending=_pending(stored, verdicts),
    )


def _passed_over(rows: Sequence[HistoryRow]) -> Iterator[str]:
    others = [
        (above.release, row) for above, row in pairwise(rows) if row.previous not in {None, above.release.version}
    ]
    for above, row in others:
        if is_withdrawn(above):
            yield f"{row.release.version} is compared with {row.previous}: {above.version} was withdrawn"
    if not all(is_withdrawn(above) for above, _ in others):
        yield "each release is compared with the previous release; development builds are skipped"


def _lacks(stored: Sequence[Release], verdicts: _Verdicts, judging: HistoryJudging) -> Iterator[str]:
    if not stored:
        return
    covered = [each.against for each in measures_of(stored[-1], stored[:-1], ())]
    asked = AskedRelease(stored[-1], covered, cache(partial(verdicts.broken_of, covered, stored[-1])))
    finder = DepartureFinder(judging.store.walk(), stored, verdicts, most=MOST_OPENED)
    yield from lacks(asked, finder.before(asked), verdicts.compared)


def _pending(stored: Sequence[Release], verdicts: _Verdicts) -> str:
    """What the next release must be, where builds that are none stand after the last one; else nothing."""
    last = next((each for each in reversed(stored) if not is_unreleased(each.version)), None)
    if last is None or last == stored[-1]:
        return ""
    found = verdicts.against(last, stored[-1])
    if not isinstance(found, VerdictSummary):
        return ""
    promise = verdicts.decided(last, stored[-1], found).promise
    return promise.sentence if promise else ""


def _verdict_of(told: VerdictSummary | str | None) -> Verdict | None:
    return told.verdict if isinstance(told, VerdictSummary) else None


def _ruled(by: Ruling | None) -> tuple[str, RulingFile | None, tuple[RulingFile, ...]]:
    return (by.policy.name, by.policy.file, by.suppressions.files) if by else (RulingKey().policy, None, ())


class _Verdicts:
    """The verdicts of a line: stored ones, and others as they are asked for.

    A release that cannot be judged has the reason in place of its verdict; the others are judged.
    """

    def __init__(self, key: LineKey, judging: HistoryJudging) -> None:
        self._judging = judging
        self._known = dict(judging.store.verdict_summaries(key, str(ENGINE)))
        self._judge = ConsecutiveJudge(judging.store, judging.by)
        approvals = of_library(judging.store.approvals(), key.library)
        self._decisions = StoredDecisions(judging.store, approvals, judging.today, judging.deprecation)
        self._last: dict[tuple[Release, Release], StoredVerdict] = {}

    @property
    def damaged(self) -> bool:
        return self._judge.damaged

    def beside(self, previous: Release, release: Release) -> VerdictSummary | str:
        return self._remembered(previous, release) or self._given(self._judge.beside, previous, release)

    def against(self, baseline: Release, release: Release) -> VerdictSummary | str:
        return self._remembered(baseline, release) or self._given(self._judge.against, baseline, release)

    def compared(self, old: Release, new: Release) -> Comparison | None:
        """What is found about two releases; ``None`` where they are not judged."""
        if isinstance(self.against(old, new), str):
            return None
        given = self._verdict(old, new)
        return given.comparison if given else None

    def broke(self, old: Release, new: Release) -> bool:
        found = self.beside(old, new)
        return not isinstance(found, str) and found.verdict.exit_code > 0

    def broken(self, old: Release, new: Release) -> Broken:
        return broken_by(self.compared(old, new))

    def broken_of(self, others: Sequence[Release], new: Release) -> Broken:
        """What a release breaks of others that are supported, each name with the worst impact."""
        worst: dict[Name, Impact] = {}
        for old in filter(is_supported, others):
            for name, impact in broken_by(self.compared(old, new)).items():
                worst[name] = max(impact, worst.get(name, impact))
        return worst

    def decided(
        self, old: Release | None, new: Release, found: VerdictSummary | str | None, against: str | None = None
    ) -> Decision:
        """The decision about a release beside another one; about the first of a line where there is no other."""
        if old is None or found is None:
            return first_decision(new)
        return self._decisions.beside(old, new, found, lambda: self._verdict(old, new), against)

    def _verdict(self, old: Release, new: Release) -> StoredVerdict | None:
        key = key_of(self._judging.by, old, new)
        pending = self._last.get((old, new)) or self._judging.keeper.pending(old, new)
        return pending or self._judging.store.find_verdict(old, new, key, str(ENGINE))

    def _remembered(self, old: Release, new: Release) -> VerdictSummary | None:
        return self._known.get((old.sequence, new.sequence, key_of(self._judging.by, old, new)))

    def _given(
        self, judge: Callable[[Release, Release], StoredVerdict | str], old: Release, new: Release
    ) -> VerdictSummary | str:
        return self._kept(judge(old, new)) if self._judging.judge else UNJUDGED

    def _kept(self, given: StoredVerdict | str) -> VerdictSummary | str:
        if isinstance(given, str):
            return given
        self._judging.keeper.keep(given)
        self._last = {pair: one for pair, one in self._last.items() if pair[1] == given.new}
        self._last[given.old, given.new] = given
        summary = self._judging.store.summary_of(given)
        self._known[given.old.sequence, given.new.sequence, key_of(self._judging.by, given.old, given.new)] = summary
        return summary


Told: TypeAlias = tuple[Release | None, VerdictSummary | str | None]
"""Another release, and the verdict against it or the reason why there is none; ``None`` if none was asked for."""


def _row(release: Release, beside: Told, against: Told) -> HistoryRow:
    previous, found = beside
    verdict = found if isinstance(found, VerdictSummary) else None
    baseline = against[1] if isinstance(against[1], VerdictSummary) else None
    return HistoryRow(
        release=release,
        previous=previous.version if previous else None,
        churn=verdict.churn if verdict else None,
        verdict=verdict.verdict if verdict else None,
        against_baseline=baseline.verdict if baseline else None,
        notices=verdict.notices if verdict else 0,
        unjudged=found if isinstance(found, str) else "",
        unjudged_baseline=against[1] if isinstance(against[1], str) else "",
        evidence_gap=_gap(release, beside),
        evidence_gap_baseline=_gap(release, against),
    )


def _gap(release: Release, told: Told) -> str:
    other, verdict = told
    return evidence_gap(other.evidence, release.evidence) if other and isinstance(verdict, VerdictSummary) else ""


class StoredDecisions(NamedTuple):
    """Decides about the releases of one library: with what is approved of it ``today``, by its scheme.

    With ``deprecation``, no release passes that removes what was not deprecated for so long.
    """

    store: Store
    approvals: tuple[Approval, ...]
    today: date
    deprecation: DeprecationWindow | None = None

    def beside(
        self,
        old: Release,
        new: Release,
        found: VerdictSummary | str,
        given: Callable[[], StoredVerdict | None],
        against: str | None = None,
    ) -> Decision:
        """The decision that ``verdict --against`` makes of two releases. ``found`` is their verdict, or why none is.

        ``given`` has the findings: it is asked where something may fail.
        """
        why, channel = compared_as(against)
        asked = DecisionRequest(why, channel, require=usual(against, "api_break"), profile=new.line.profile)
        if isinstance(found, str):
            return not_judged(new.side, asked, old.side, found)
        plan = allow_plan(self.store, old, new.soname, new.provenance)
        whole = None if _suffices(old, new, found) and not self.deprecation else given()
        report = _bare(old, new, found) if whole is None else outline(whole.comparison, churn=whole.churn)
        if whole is not None and self.deprecation is not None:
            early = early_removals(self.store, report, old, moment(new), self.deprecation)
            plan = replace(plan, early=early)
        if whole is not None and self.approvals:
            at = place_between(self.store, (old, new), self.today, channel or None)
            report = approved(report, self.approvals, at)
        return decide(report, replace(asked, allow=plan))


def lines_with_outcomes(
    *, database: Database = None, among: Sequence[str] | None = None, today: date | None = None
) -> tuple[ListedLine, ...]:
    """All lines of the store, each with the outcome of its latest release, as far as its verdict is stored.

    With ``among``, those of these libraries. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store:
        outcomes = _StoredOutcomes(store, store.approvals(), day(today))
        return tuple(
            msgspec.structs.replace(line, outcome=outcomes.of(stored, {line.latest}).get(line.latest))
            for line, stored in listed_lines(store, None, among)
        )


def releases_with_outcomes(
    library: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    today: date | None = None,
) -> tuple[ListedRelease, ...]:
    """A library's releases, line by line, in release order, with outcomes as far as verdicts are stored; then its
    candidates. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store:
        found = stored_releases(store, library, target, profile)
        outcomes = _StoredOutcomes(store, of_library(store.approvals(), library), day(today))
        by_line = {
            key: outcomes.of(kept, {each.version for each in kept})
            for key in {each.line for each in found}
            if (kept := releases_of(store, key))
        }
        return tuple(_listed(each, by_line.get(each.line, {})) for each in found)


def _listed(release: Release, outcomes: Mapping[str, Outcome]) -> ListedRelease:
    facts = {name: getattr(release, name) for name in release.__struct_fields__}
    return ListedRelease(**facts, outcome=None if release.candidate else outcomes.get(release.version))


class _StoredOutcomes(NamedTuple):
    """Says whether releases may ship after the previous ones, by verdicts that are stored: none is given now."""

    store: Store
    approvals: tuple[Approval, ...]
    today: date

    def of(self, stored: Sequence[Release], asked: Container[str]) -> dict[str, Outcome]:
        """The outcomes of versions that are ``asked`` for, of all releases of a line in release order."""
        if not stored:
            return {}
        line = stored[0].line
        known = self.store.verdict_summaries(line, str(ENGINE))
        decisions = StoredDecisions(self.store, of_library(self.approvals, line.library), self.today)
        found, predecessors = dict[str, Outcome](), Predecessors()
        for new in stored:
            old = predecessors.of(new.version)
            predecessors.add(new)
            told = known.get((old.sequence, new.sequence, STRICT)) if old else None
            if new.version in asked and old is None:
                found[new.version] = first_decision(new).outcome
            elif new.version in asked and old and told:
                given = partial(self.store.find_verdict, old, new, STRICT, str(ENGINE))
                found[new.version] = decisions.beside(old, new, told, given).outcome
        return found


def first_decision(release: Release) -> Decision:
    """The decision about the first release of a line."""
    return first_release(release.side, DecisionRequest("first", profile=release.line.profile))


def _suffices(old: Release, new: Release, found: VerdictSummary) -> bool:
    """Whether the counts of a verdict say all that a decision rests on: nothing breaks, and all was compared."""
    return found.verdict < Verdict.API_BREAK and not found.not_checked and old.soname == new.soname


def _bare(old: Release, new: Release, found: VerdictSummary) -> Report:
    """A report without findings."""
    total = found.breaking + found.api_breaks + found.risk_changes + found.compatible + found.notices
    return Report(
        status="ok",
        schema=SCHEMA,
        verdict=cast(VerdictName, found.verdict.name),
        exit_code=0,
        summary=Summary(found.breaking, found.api_breaks, found.risk_changes, found.compatible, total),
        changes=(),
        suppressed_count=found.suppressed,
        suppressed=(),
        not_checked=(),
        notes=(),
        old=old.side,
        new=new.side,
        policy=found.ruling.policy,
        engine=found.engine,
        churn=found.churn,
        evidence_gap=evidence_gap(old.evidence, new.evidence),
    )


class RunsOn(msgspec.Struct, frozen=True):
    """A release that a program may meet: the verdict that decides, or the ``reason`` why there is none.

    ``partial``: one of the two releases shows less than the other.
    """

    version: str
    verdict: Verdict | None
    partial: bool = False
    reason: str = ""


class CompatibleRange(msgspec.Struct, frozen=True):
    """The releases that a program runs on which was built against ``version``.

    It ``runs_up_to`` the last release before one that breaks it, and ``needs_at_least`` the first after one that lacks
    something which it may use. ``releases`` are all others of the line, in release order, each judged as the
    replacement of ``version``; some beyond the range may fit again.
    """

    line: LineKey
    version: str
    needs_at_least: str
    runs_up_to: str
    releases: tuple[RunsOn, ...]


def compatible_range(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> CompatibleRange:
    """The releases that a program can run on which was built against a release, or the latest one of a library.

    Such a program may use all that the release exports. Nothing is stored. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        release = released(store, reference, target, profile)
        ordered = releases_of(store, release.line)
        place = next(number for number, each in enumerate(ordered) if each.sequence == release.sequence)
        later = tuple(_judged(store, release, ordered[place + 1 :], by))
        earlier = tuple(_judged(store, release, ordered[:place][::-1], by))
        return CompatibleRange(
            release.line,
            release.version,
            _last_fit(release.version, earlier),
            _last_fit(release.version, later),
            (*earlier[::-1], *later),
        )


def _judged(store: Store, base: Release, others: Sequence[Release], by: Ruling | None) -> Iterator[RunsOn]:
    """The others, each judged as the replacement of ``base``, the nearest first."""
    from abistore.diffing.judge.successive import Replacing

    walk = SideWalk(store)
    row = Replacing(walk.go(base), by)
    for other in others:
        side = walk.go(other)
        row.note(walk.changed)
        with limits_for(side.snapshot.weight * 2, f"judging {other.reference}"), without_cycle_collection():
            partial = bool(unequal_evidence(base.evidence, other.evidence))
            try:
                yield RunsOn(other.version, row.verdict(side), partial)
            except (InputError, Incomparable) as error:
                yield RunsOn(other.version, None, partial, error.message)


def _last_fit(version: str, others: Iterable[RunsOn]) -> str:
    """The last release before one that does not fit, or is not known to."""
    for other in others:
        if other.verdict is None or other.verdict is Verdict.BREAKING:
            break
        version = other.version
    return version


MOST_HELD = 1_000_000
"""So many declarations of releases are kept at a time, some 200 bytes each; longer matrices are made in bands."""


GUESSES = 8
"""So many names that differ are asked first whether they break a pair."""


class ReleaseRange(msgspec.Struct, frozen=True):
    """A part of a line, in release order: from ``first`` to ``final``, both included, and of these the ``last`` few."""

    first: str | None = None
    final: str | None = None
    last: int | None = None


def matrix(
    library: str,
    *,
    within: ReleaseRange | None = None,
    downgrades: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    histories: Sequence[History] | None = None,
) -> tuple[Matrix, ...]:
    """Which release can replace which, for all pairs of each line of a library.

    With ``downgrades``, older releases are judged as replacements of later ones too. Nothing is stored. Where a release
    was judged against the previous one or the baseline before, the pair has an outcome, too, with what is approved
    ``today``; ``histories`` have these decisions, if the caller made them. Raises :class:`SnapshotNotFound`, and
    :class:`UsageError` for a range that is none.
    """
    if histories is None:
        histories = history(library, database=database, target=target, profile=profile, by=by, today=today, judge=False)
    told = {one.line: one for one in histories}
    with using(database) as store, store.reading():
        keys = lines_of(store, library, target, profile)
        asked = _Asked(within or ReleaseRange(), downgrades, progress, by)
        return tuple(_matrix(store, key, asked, told[key]) for key in keys if key in told)


class _Asked(msgspec.Struct, frozen=True):
    """What a matrix is asked for."""

    within: ReleaseRange
    downgrades: bool
    progress: Progress | None
    by: Ruling | None


def _matrix(store: Store, key: LineKey, asked: _Asked, told: History) -> Matrix:
    chosen = ranged(releases_of(store, key), asked.within)
    cells = _Cells(chosen)
    for first, bases in _bands(chosen):
        _fill(cells, store, (first, bases), asked)
    return Matrix(
        key,
        tuple(MatrixRelease(each.version, each.released or each.ingested, each.soname) for each in chosen),
        tuple(tuple(row) for row in cells.verdicts),
        tuple(tuple(bool(unequal_evidence(old.evidence, new.evidence)) for new in chosen) for old in chosen),
        _outcomes(told, chosen),
        asked.downgrades,
        asked.by.policy.name if asked.by else RulingKey().policy,
        tuple(cells.unjudged),
    )


def _outcomes(told: History, releases: Sequence[Release]) -> tuple[tuple[Outcome | None, ...], ...]:
    """What is decided about each release: compared with the previous one, and with the baseline."""
    known: dict[tuple[str, str], Outcome] = {}
    for row in told.rows:
        version = row.release.version
        if told.baseline is not None and row.baseline_decision is not None and not row.unjudged_baseline:
            known[told.baseline, version] = row.baseline_decision.outcome
        if row.previous is not None and row.decision is not None and not row.unjudged:
            known[row.previous, version] = row.decision.outcome
    return tuple(tuple(known.get((old.version, new.version)) for new in releases) for old in releases)


def ranged(releases: Sequence[Release], within: ReleaseRange) -> Sequence[Release]:
    """The releases of a range. Raises :class:`UsageError` for a version that is none of them, or where none is left."""
    start = place_of(releases, within.first) if within.first is not None else 0
    end = place_of(releases, within.final) + 1 if within.final is not None else len(releases)
    found = releases[start:end][-within.last if within.last else 0 :]
    if not found:
        raise UsageError(f"no release is between {within.first} and {within.final}", "give the older one first")
    return found


def _bands(releases: Sequence[Release]) -> Iterator[tuple[int, Sequence[Release]]]:
    """The releases in parts that can be kept at a time, each with its first place."""
    widest = max(each.declarations + each.exports for each in releases)
    height = max(2, MOST_HELD // max(widest, 1))
    for first in range(0, len(releases), height):
        yield first, releases[first : first + height]


class _Cells:
    """A matrix that is being filled."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self.releases = releases
        self.verdicts: list[list[Verdict | None]] = [[None] * len(releases) for _ in releases]
        self.unjudged: list[UnjudgedPair] = []

    def judge(self, row: Replacing, old: int, new: tuple[int, SideFacts], hints: Iterable[Name]) -> None:
        column, side = new
        try:
            self.verdicts[old][column] = row.verdict(side, hints)
        except (InputError, Incomparable) as error:
            pair = self.releases[old].version, self.releases[column].version
            self.unjudged.append(UnjudgedPair(*pair, error.message))


def _fill(cells: _Cells, store: Store, band: tuple[int, Sequence[Release]], asked: _Asked) -> None:
    """Fill the rows of a band, and with downgrades its columns, on one way through the releases after its first."""
    from abistore.diffing.judge.successive import Replacing

    first, bases = band
    walk, rows = SideWalk(store), list[Replacing]()
    held: list[tuple[SideFacts, frozenset[Name]]] = []
    for column in range(first, len(cells.releases)):
        release = cells.releases[column]
        if asked.progress:
            asked.progress(f"{release.line.library} {release.version}", column / len(cells.releases))
        side = walk.go(release)
        weight = side.snapshot.weight * (1 + len(rows))
        with limits_for(weight, f"judging {release.reference} against others"), without_cycle_collection():
            _column(cells, rows, (first, column), (side, walk.changed))
            if asked.downgrades:
                _backwards(cells, held, (first, column), (Replacing(side, asked.by), walk.changed))
        if column < first + len(bases):
            rows.append(Replacing(side, asked.by))
            held.append((side, walk.changed))


def _column(
    cells: _Cells, rows: Sequence[Replacing], at: tuple[int, int], new: tuple[SideFacts, frozenset[Name]]
) -> None:
    (first, column), (side, changed) = at, new
    hints: tuple[Name, ...] = _guessed(changed)
    for number, row in enumerate(rows):
        row.note(changed)
        cells.judge(row, first + number, (column, side), hints)
        hints = (*row.witnesses, *hints)[:GUESSES]


def _guessed(changed: Iterable[Name]) -> tuple[Name, ...]:
    """Names that may break a pair: some types and some exports."""
    names = sorted(changed)
    types = [name for name in names if name.kind in ("record", "enum")]
    others = [name for name in names if name.kind not in ("record", "enum")]
    return (*types[: GUESSES // 2], *others[: GUESSES // 2])


def _backwards(
    cells: _Cells,
    held: Sequence[tuple[SideFacts, frozenset[Name]]],
    at: tuple[int, int],
    old: tuple[Replacing, frozenset[Name]],
) -> None:
    """Judge each older release of the band as the replacement of one, the nearest first."""
    (first, column), (row, changed) = at, old
    for number in range(len(held) - 1, -1, -1):
        side, differs = held[number]
        row.note(changed)
        cells.judge(row, column, (first + number, side), _guessed(changed))
        changed = differs
