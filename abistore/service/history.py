"""The releases of a library with their verdicts and decisions: against the previous one, and against baselines."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from abistore.model.approvals import Approval
from abistore.model.decision import Decision, Outcome
from abistore.model.declarations import Name
from abistore.model.findings import ENGINE, Comparison, Impact, RulingFile, RulingKey, Verdict
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
from abistore.model.structure import with_cycle_collection
from abistore.model.versions import is_unreleased
from abistore.report.history import History as History
from abistore.report.history import HistoryRow as HistoryRow
from abistore.report.model import SCHEMA, Report, Summary, VerdictName
from abistore.report.outline import evidence_gap, outline
from abistore.service.approved_gates import approved, day, of_library, place_between
from abistore.service.binding import rule_of_line, ruled
from abistore.service.bisect import Broken, broken_by
from abistore.service.blame import AskedRelease, DepartureFinder, lacks
from abistore.service.consumers import allow_plan
from abistore.service.database import Database, using
from abistore.service.decision import DecisionRequest, compared_as, decide, first_release, needed, not_judged
from abistore.service.judging import usual
from abistore.service.listing import (
    ListedLine,
    ListedRelease,
    channels_of,
    lines_of,
    listed_lines,
    promised,
    releases_of,
    stored_releases,
)
from abistore.service.log import early_removals, moment
from abistore.service.predecessors import Predecessors, earlier_of_soname
from abistore.service.verdicts import ConsecutiveJudge, StepVerdicts, VerdictKeeper, key_of, sentences

if TYPE_CHECKING:
    from abistore.model.rules import Binding, BoundRule
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
    rule: BoundRule | None = None


def _history(store: Store, key: LineKey, channel: str, judging: HistoryJudging) -> History:
    stored = releases_of(store, key)
    rule = rule_of_line(store.rules(), key, stored)
    judging = judging._replace(rule=rule, by=ruled(rule, judging.by, judging.today))
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
        terms = judging.today, judging.deprecation, judging.rule
        self._decisions = StoredDecisions(judging.store, approvals, *terms)
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
            return first_decision(new, self._judging.rule)
        decision = self._decisions.beside(old, new, found, lambda: self._verdict(old, new), against)
        earlier = partial(self.against, release=new), partial(self._verdict, new=new)
        return self._decisions.obeying(decision, (old, new), *earlier) or decision

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

    With ``deprecation``, no release passes that removes what was not deprecated for so long. ``rule`` is what the store
    binds to the library; the verdicts are by its policy.
    """

    store: Store
    approvals: tuple[Approval, ...]
    today: date
    deprecation: DeprecationWindow | None = None
    rule: BoundRule | None = None

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
        profile, required = new.line.profile, needed(self.rule, usual(against, "api_break"))
        asked = DecisionRequest(why, channel, require=required, profile=profile, bound=self.rule)
        if isinstance(found, str):
            return not_judged(new.side, asked, old.side, found)
        plan = allow_plan(self.store, old, new.soname, new.provenance)
        may_lack = self.deprecation or required.facets
        whole = None if _suffices(old, new, found) and not may_lack else given()
        report = _bare(old, new, found) if whole is None else outline(whole.comparison, churn=whole.churn)
        if whole is not None and self.deprecation is not None:
            early = early_removals(self.store, report, old, moment(new), self.deprecation)
            plan = replace(plan, early=early)
        if whole is not None and self.approvals:
            at = place_between(self.store, (old, new), self.today, channel or None)
            report = approved(report, self.approvals, at)
        return decide(report, replace(asked, allow=plan))

    def obeying(
        self,
        decision: Decision,
        between: tuple[Release, Release],
        found: Callable[[Release], VerdictSummary | str | None],
        given: Callable[[Release], StoredVerdict | None],
    ) -> Decision | None:
        """A decision between two releases, or the first about an earlier release of the SONAME that a bound rule keeps.

        ``found`` and ``given`` are asked about such a release, as :meth:`beside` is. ``None`` where a verdict about one
        is not known, and no other fails.
        """
        old, new = between
        if decision.exit_code or self.rule is None or not self.rule.since_soname:
            return decision
        unknown = False
        for each in earlier_of_soname(self.store, new.line, new.version, new.soname, new):
            told = found(each) if each != old else None
            unknown = unknown or (told is None and each != old)
            if told is not None:
                other = self.beside(each, new, told, partial(given, each), each.version)
                if other.exit_code:
                    return other
        return None if unknown else decision


def lines_with_outcomes(
    *, database: Database = None, among: Sequence[str] | None = None, today: date | None = None
) -> tuple[ListedLine, ...]:
    """All lines of the store, each with the outcome of its latest release, as far as its verdict is stored.

    With ``among``, those of these libraries. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store:
        outcomes = _StoredOutcomes(store, store.approvals(), store.rules(), day(today))
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
        outcomes = _StoredOutcomes(store, of_library(store.approvals(), library), store.rules(), day(today))
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
    rules: Sequence[Binding]
    today: date

    def of(self, stored: Sequence[Release], asked: Container[str]) -> dict[str, Outcome]:
        """The outcomes of versions that are ``asked`` for, of all releases of a line in release order."""
        if not stored:
            return {}
        line = stored[0].line
        rule = rule_of_line(self.rules, line, stored)
        by = ruled(rule, None, self.today)
        known = self.store.verdict_summaries(line, str(ENGINE))
        approvals = of_library(self.approvals, line.library)
        decisions = StoredDecisions(self.store, approvals, self.today, rule=rule)
        found, predecessors = dict[str, Outcome](), Predecessors()

        def summary_of(new: Release, old: Release) -> VerdictSummary | None:
            return known.get((old.sequence, new.sequence, key_of(by, old, new)))

        def given(new: Release, old: Release) -> StoredVerdict | None:
            return self.store.find_verdict(old, new, key_of(by, old, new), str(ENGINE))

        for new in stored:
            old = predecessors.of(new.version)
            predecessors.add(new)
            told = summary_of(new, old) if old else None
            if new.version in asked and old is None:
                found[new.version] = first_decision(new, rule).outcome
            elif new.version in asked and old and told:
                decision = decisions.beside(old, new, told, partial(given, new, old))
                if shown := decisions.obeying(decision, (old, new), partial(summary_of, new), partial(given, new)):
                    found[new.version] = shown.outcome
        return found


def first_decision(release: Release, rule: BoundRule | None = None) -> Decision:
    """The decision about the first release of a line, with what the store binds to it."""
    return first_release(release.side, DecisionRequest("first", profile=release.line.profile, bound=rule))


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
