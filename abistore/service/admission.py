"""Judging snapshots before they are stored, and storing them if their gates let them through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from abistore.errors import BaselineLost, EvidenceMissing, SnapshotNotFound
from abistore.model.approvals import Approval, GatePlace, no_later
from abistore.model.decision import AllowPlan, Decision
from abistore.model.findings import ENGINE, Churn, Comparison
from abistore.model.history import IngestOutcome, Release
from abistore.model.labels import AUTO
from abistore.model.snapshot import PackageRead, Provenance, Snapshot, loaded_as
from abistore.model.versions import check_version
from abistore.report.model import Report, verdict_of
from abistore.service.approved_gates import (
    approved,
    approved_between,
    channel_of,
    day,
    of_library,
    seen_with,
    undone_before,
)
from abistore.service.binding import names_for, obeyed
from abistore.service.consumers import allow_plan, with_consumers
from abistore.service.decision import DecisionRequest, compared_as, decided, first_release, undecided
from abistore.service.declarations import with_deprecation_dates
from abistore.service.ingest_gates import Admitted, Arrival, Gate, GateOutcome, Status, as_known, store_as
from abistore.service.judging import concluded, evidence_error, report, stated
from abistore.service.log import early_removals
from abistore.service.package_comparing import (
    decided_release,
    identities_between,
    judge_releases,
    library_not_given,
    report_of_release,
    said_of,
    unjudged_twins,
)
from abistore.service.predecessors import (
    GateCounterpart,
    before_it_moves,
    beside_itself,
    counterpart_of,
    earlier_of_soname,
    leads_here,
    namesake,
    passed_over,
)
from abistore.service.snapshots import ReadRelease
from abistore.service.verdicts import given_now, key_of

if TYPE_CHECKING:
    from collections.abc import Container

    from abistore.store.store import Store

ATTEMPTS = 3
"""How often to judge an arrival while others may move its baseline; after that, they wait for it."""


class Beside(NamedTuple):
    """A release that an arrival is judged against, and the channel that stands there and is asked, if one is."""

    old: Release
    channel: str | None = None

    @property
    def channel_word(self) -> str:
        """The release in the words of ``--against``."""
        return f"baseline:{self.channel}" if self.channel else self.old.version


class StoreState(NamedTuple):
    """The state of the store that decides about an arrival.

    ``release`` is the arrival itself if it is stored; ``against``, ``replaced`` and ``baseline`` are what it is judged
    against: the last is where the channel stands that it moves. ``stands`` is the version that the channel it may move
    points at. ``approvals`` is the whole ledger: what is withdrawn while an arrival is judged does not let it pass.
    """

    release: Release | None
    against: GateCounterpart
    replaced: Release | None
    stands: str | None
    approvals: tuple[Approval, ...] = ()
    scheme: str = AUTO
    baseline: Release | None = None
    since_soname: tuple[Release, ...] = ()

    @property
    def counterparts(self) -> tuple[Release, ...]:
        """What it is judged against."""
        sides = (self.against.release, self.replaced, self.baseline, *self.since_soname)
        return tuple(dict.fromkeys(each for each in sides if each is not None))


class _Given(NamedTuple):
    report: Report
    comparison: Comparison
    churn: Churn
    remembered: bool


def admit_judged(store: Store, arrival: Arrival, gate: Gate) -> Admitted:
    """Judge ``arrival``, and store it if it passes or is to be kept.

    Others may write while it is judged. The transaction that stores it checks what it was judged against: if that has
    moved, it is judged again. Raises :class:`VersionTaken` and other errors that refuse it.
    """
    admission = Admission(store, arrival, gate)
    for _ in range(ATTEMPTS):
        standing = admission.standing()
        outcome = admission.judge(standing)
        if admission.refuses(outcome, standing):
            return Admitted(outcome)
        with store.transaction():
            store.hold(arrival.line)
            if admission.standing() == standing:
                return admission.settle(outcome, standing)
    with store.transaction():
        store.hold(arrival.line)
        standing = admission.standing()
        outcome = admission.judge(standing)
        return Admitted(outcome) if admission.refuses(outcome, standing) else admission.settle(outcome, standing)


def foresee(store: Store, arrival: Arrival, gate: Gate) -> Admitted:
    """What would become of ``arrival``. Nothing is written. Raises what :func:`admit_judged` would."""
    check_version(arrival.request.version, store.scheme(arrival.line.library))
    admission = Admission(store, arrival, gate)
    standing = admission.standing()
    outcome = GateOutcome() if gate.is_open else admission.judge(standing)
    if standing.release is not None:
        status: Status = "known"
    elif outcome.exit_code:
        status = "candidate" if gate.keep_failed else "refused"
    else:
        status = "replaced" if standing.replaced else "stored"
    moves = bool(gate.channel) and status != "refused" and admission.moves(outcome, standing)
    known = as_known(standing.release) if standing.release else None
    return Admitted(outcome, known, gate.channel if moves else None, status)


class Admission:
    """One arrival at one gate. It is judged against each release once."""

    def __init__(self, store: Store, arrival: Arrival, gate: Gate) -> None:
        self.store, self.arrival, self.gate = store, arrival, gate
        self._given: dict[tuple[Release, Release | None], _Given] = {}

    def allow(self, old: Release, report: Report | None = None) -> AllowPlan:
        """What decides whether the arrival may break an older release, as a report about the two tells."""
        arrival, window = self.arrival, self.gate.deprecation
        plan = allow_plan(self.store, old, self.arrival.soname, self._provenance, self.gate.allow)
        if window is None or report is None:
            return plan
        released = arrival.request.released.date() if arrival.request.released else day(self.gate.today)
        early = early_removals(self.store, report, old, (arrival.request.version, released), window)
        return msgspec.structs.replace(plan, early=early)

    @property
    def loaded_as(self) -> tuple[str, ...]:
        """The names by which programs load the arrival, too."""
        return loaded_as(self._provenance)

    @property
    def _provenance(self) -> Provenance:
        told = self.arrival.release or self.arrival.snapshot
        return told.provenance if told is not None else Provenance()

    def standing(self) -> StoreState:
        """What the store holds now."""
        line, version = self.arrival.line, self.arrival.request.version
        with self.store.reading():
            release, replaced = self._place()
            against = counterpart_of(self.store, line, version, self.gate.against, self.gate.channel)
            if self.gate.bootstrap and against.missing:
                self._check_new()
            elif self.gate.if_unset and against.missing:
                self._check_had_none({self.gate.channel})
            moves = self.store.baselines(line.library) if self.gate.channel else ()
            stands = next((one.version for one in moves if (one.line, one.channel) == (line, self.gate.channel)), None)
            baseline = self._baseline(stands, release)
            since = self._since_soname(release)
            said = self.store.approvals() if against.release or replaced or baseline or since else ()
            scheme = self.store.scheme(line.library)
        return StoreState(release, against, replaced, stands, said, scheme, baseline, since)

    def _since_soname(self, arrived: Release | None) -> tuple[Release, ...]:
        """The earlier releases of its SONAME, where it must break none of them."""
        if self.gate.rule is None or not self.gate.rule.since_soname:
            return ()
        arrival = self.arrival
        return earlier_of_soname(self.store, arrival.line, arrival.request.version, arrival.soname, arrived)

    def _baseline(self, stands: str | None, arrived: Release | None) -> Release | None:
        """The release that the channel would leave; ``None`` where none does."""
        if stands is None or not self.gate.moving:
            return None
        line = self.arrival.line
        found = self.store.resolve(f"{line.library}@{stands}", target=line.target, profile=line.profile)
        return None if found == arrived else found

    def _check_new(self) -> None:
        """Raise :class:`BaselineLost` where the line ever had a baseline, or its SONAME has one by another name."""
        line = self.arrival.line
        if same := namesake(self.store, line, self.arrival.soname):
            raise BaselineLost(
                f"{line}: no baseline at {self.gate.channel}, and its SONAME {same.soname} is that of "
                f"{same.reference}, which has one",
                f"judge it under the name that programs load: --library {same.line.library}",
            )
        self._check_had_none()

    def _check_had_none(self, channels: Container[str | None] | None = None) -> None:
        """Raise :class:`BaselineLost` where the line ever had a baseline, at one of ``channels`` or at any."""
        line = self.arrival.line
        moves = [
            move
            for move in self.store.baseline_history(line.library)
            if move.line == line and move.version and (channels is None or move.channel in channels)
        ]
        if moves:
            last, channel = moves[-1], self.gate.channel
            where = f"--target {line.target} --profile {line.profile}"
            put = f"abistore db baseline set {line.library}@{last.version} --channel {channel} {where}"
            standing = sorted({move.channel for move in self.store.baselines(line.library) if move.line == line})
            other = f"gate against --channel {' or '.join(standing)}; or " if standing else ""
            raise BaselineLost(
                f"{line}: no baseline at {channel}, but it had one before: {last.channel} was set to {last.version}",
                f"{other}put one there: {put}",
            )

    def _place(self) -> tuple[Release | None, Release | None]:
        arrival = self.arrival
        if arrival.snapshot is not None:
            place = self.store.place(arrival.snapshot, arrival.request)
            return (place.current, None) if place.known else (None, place.current)
        line = arrival.line
        if arrival.release not in self.store.releases(line.library, line.target, line.profile):
            raise SnapshotNotFound(f"{line.library}@{arrival.request.version}: was replaced just now", "run this again")
        return arrival.release, None

    def judge(self, standing: StoreState) -> GateOutcome:
        """The gate's answer: the worst verdict's exit code, else that of missing evidence."""
        reports = self._reports(standing)
        if not reports:
            first = self._alone(standing.release)
            lack = evidence_error(first.missing) if first.missing else None
            return GateOutcome((), first.exit_code, lack, standing.against.missing, first)
        worst, *others = sorted(reports, key=severity, reverse=True)
        lack = EvidenceMissing(worst.error, worst.hint) if worst.code else None
        unjudged = "" if standing.baseline else standing.against.missing
        return GateOutcome((worst, *others), worst.exit_code, lack, unjudged)

    def _reports(self, standing: StoreState) -> list[Report]:
        """What it is judged by: of earlier releases of its SONAME that nothing names, those that it breaks."""
        given = [(asked, self._report(asked, standing)) for asked in self.questions(standing)]
        named = {each for each in (standing.against.release, standing.replaced, standing.baseline) if each is not None}
        counting = [report for asked, report in given if asked.old in named or report.exit_code]
        return counting or [report for _, report in given[-1:]]

    def named(self, standing: StoreState) -> Beside | None:
        """What ``--against`` names."""
        old = standing.against.release
        return Beside(old, channel_of(self.gate.against)) if old is not None else None

    def left(self, standing: StoreState) -> Beside | None:
        """The release that a baseline leaves if the arrival passes."""
        return Beside(standing.baseline, self.gate.moving) if standing.baseline is not None else None

    def questions(self, standing: StoreState) -> tuple[Beside, ...]:
        """All that it is judged against. The release that it replaces is no channel, whatever the gate names."""
        replaced = Beside(standing.replaced) if standing.replaced is not None else None
        sides = self.named(standing), self.left(standing), replaced, *map(Beside, standing.since_soname)
        asked = dict.fromkeys(each for each in sides if each is not None)
        with_channel = {each.old for each in asked if each.channel}
        return tuple(each for each in asked if each.channel or each.old not in with_channel)

    def report(self, asked: Beside, standing: StoreState, report: Report | None = None) -> Report:
        """The report about the arrival, or one that was made of it, with what is approved where this gate stands."""
        stored, old = standing.release, asked.old
        if report is None:
            if (old, stored) not in self._given:
                self._given[old, stored] = self._judged(old, stored)
            report = with_deprecation_dates(self.store, self._given[old, stored].report, old)
        at = self.place(standing, report, asked)
        report = approved(report, of_library(standing.approvals, self.arrival.line.library), at)
        return self._with_consumers(report, old, stored) if self.gate.consumers else report

    def _with_consumers(self, report: Report, old: Release, stored: Release | None) -> Report:
        new = self.store.load(stored) if stored is not None else self.arrival.snapshot
        assert new is not None
        return with_consumers(self.store, report, (self.store.load(old), new))

    def place(self, standing: StoreState, report: Report, asked: Beside) -> GatePlace:
        """Where this gate stands."""
        known = day(self.gate.today), self.arrival.request.version, report.new.soname, asked.channel, standing.scheme
        line = self.arrival.line
        return GatePlace(*known, line.target, line.profile, undone_before(self.store, asked.old), seen_with(self.store))

    def _report(self, asked: Beside, standing: StoreState) -> Report:
        report, old = self.report(asked, standing), asked.old
        if (new := standing.release or self.arrival.snapshot) is not None:
            label = self.arrival.line.library, self.arrival.request.version
            packages = old.provenance, new.provenance
            said = (*said_of(*label, *packages), *stated(report, *packages))
            if self.gate.against == "prev" and old == standing.against.release:
                said = (*said, *passed_over(self.store, old, self.arrival.request.version))
            if old == standing.release:
                said = (*said, beside_itself(old))
            if old == standing.baseline and old != standing.against.release:
                said = (*said, before_it_moves(old, self.gate.moving))
            report = msgspec.structs.replace(report, notes=(*report.notes, *said)) if said else report
        plan = self.allow(old, report)
        if old.soname in plan.loaded_as and old.soname != report.new.soname:
            report = msgspec.structs.replace(report, notes=(*report.notes, leads_here(old, report.new.soname)))
        why = compared_as(self.gate.against) if old == standing.against.release else compared_as(asked.channel_word)
        asked_of = (*why, self.gate.fail_on, self.gate.required, plan)
        profile = self.arrival.line.profile
        return decided(report, DecisionRequest(*asked_of, profile=profile, bound=self.gate.rule))

    def _judged(self, old: Release, stored: Release | None) -> _Given:
        by = self.gate.by
        new = self.store.load(stored) if stored is not None else self.arrival.snapshot
        assert new is not None
        sides = self.store.load(old), new
        comparison, churned = concluded(*sides, by)
        return _Given(report(comparison, churned, sides), comparison, churned, self._is_remembered(old, stored))

    def _is_remembered(self, old: Release, stored: Release | None) -> bool:
        """Whether the store has a verdict. A gate believes none: another store may have brought it."""
        if stored is None:
            return False
        return self.store.find_verdict(old, stored, key_of(self.gate.by, old, stored), str(ENGINE)) is not None

    def _alone(self, stored: Release | None) -> Decision:
        from abistore.diffing.judge.judged import card

        snapshot, profile = self.arrival.snapshot, self.arrival.line.profile
        if stored is None:
            assert snapshot is not None
            side = card(snapshot)
        else:
            side = stored.side
        asked = DecisionRequest("first", fail_on=self.gate.fail_on, require=self.gate.required, profile=profile)
        return first_release(side, msgspec.structs.replace(asked, bound=self.gate.rule))

    def refuses(self, outcome: GateOutcome, standing: StoreState) -> bool:
        """Whether nothing is to be written."""
        return bool(outcome.exit_code) and standing.release is None and not self.gate.keep_failed

    def settle(self, outcome: GateOutcome, standing: StoreState) -> Admitted:
        """Store the arrival as a release, or as a candidate if it failed; move the baseline if it passed."""
        stored = self._stored(outcome, standing)
        given = (self._given[old, standing.release] for old in standing.counterparts)
        made = zip(standing.counterparts, given, strict=True)
        self.store.save_verdicts(
            [given_now(old, stored.release, one.comparison, one.churn) for old, one in made if not one.remembered]
        )
        channel = self.gate.channel if self.moves(outcome, standing) else None
        if channel:
            line, version = stored.release.line, stored.release.version
            self.store.set_baseline(line, channel, version, self.arrival.request.actor, "ingest")
        return Admitted(outcome, stored, channel)

    def _stored(self, outcome: GateOutcome, standing: StoreState) -> IngestOutcome:
        if standing.release is not None:
            return as_known(standing.release)
        return store_as(self.store, self.arrival, candidate=bool(outcome.exit_code))

    def moves(self, outcome: GateOutcome, standing: StoreState) -> bool:
        """Whether the baseline moves. An arrival that could not be judged may set a baseline, not move one.

        One without exports becomes the first baseline only when told to: beside it nothing would ever break.
        """
        if outcome.exit_code or (self.gate.if_unset and (standing.stands is not None or not self._exports(standing))):
            return False
        return standing.stands is None or not outcome.unjudged

    def _exports(self, standing: StoreState) -> int:
        side = standing.release or self.arrival.snapshot
        assert side is not None
        return side.exports


def severity(report: Report) -> tuple[int, int]:
    """Orders reports: failing verdicts are the worst, then missing evidence, then what passes."""
    failing = 0 if not report.exit_code else 1 if report.code else 2
    return failing, verdict_of(report)


def siblings(store: Store, releases: Sequence[Release]) -> Iterator[Release]:
    """The other libraries of the packages that ``releases`` were stored from."""
    wanted = {_file_of(each) for each in releases}
    yield from (each for each in _packaged(store, releases) if _file_of(each) in wanted)


def undone_between(store: Store, before: Sequence[Release]) -> Callable[[Approval], bool]:
    """Tells of an approval of what stands between libraries whether it happened since, and is undone in ``before``.

    An earlier release has a finding where ``before``, the libraries of a release, shows it when judged as if that
    earlier one came after it.
    """
    last = before[0].version

    @cache
    def earlier() -> dict[str, list[Release]]:
        found: dict[str, list[Release]] = {}
        for each in _packaged(store, before):
            found.setdefault(each.version, []).append(each)
        return found

    @cache
    def found(version: str) -> frozenset[str]:
        return identities_between(store.load_many(before), store.load_many(earlier()[version]))

    def undone(one: Approval) -> bool:
        scheme, wanted = store.scheme(one.library), one.identity.partition("-")[0]
        return bool(one.stood_at) and any(
            wanted in found(each)
            for each in earlier()
            if each != last and no_later(one.stood_at, each, scheme) and no_later(each, last, scheme)
        )

    return undone


def _file_of(release: Release) -> tuple[object, ...]:
    """What the libraries of one release of a package share; the architectures of one file have its digest."""
    is_packaged = isinstance(release.provenance.package, PackageRead)
    return (_package_of(release), release.version, "" if is_packaged else release.provenance.sha256)


def _packaged(store: Store, releases: Sequence[Release]) -> Iterator[Release]:
    """All releases of the packages that ``releases`` were stored from."""
    wanted = {key for each in releases if (key := _package_of(each))}
    if not wanted:
        return
    is_packaged = any(isinstance(each.provenance.package, PackageRead) for each in releases)
    lines = store.lines() if is_packaged else [each.line for each in releases]
    for library in sorted({key.library for key in lines}):
        yield from (each for each in store.releases(library) if not each.candidate and _package_of(each) in wanted)


def _package_of(release: Release) -> tuple[str, ...] | None:
    """What the libraries of one package share in all of its releases: its name, platform and profile.

    The architectures of a universal file are libraries of one name.
    """
    package, line = release.provenance.package, release.line
    if isinstance(package, PackageRead):
        return (package.name or package.file, line.target, line.profile)
    return (line.library, line.profile) if release.target.format == "macho" else None


class AdmittedRelease(NamedTuple):
    """What became of a release: of each library, and what the gate says of all. ``report`` is ``None`` without one."""

    members: tuple[Admitted, ...]
    report: Report | None = None
    exit_code: int = 0
    lack: EvidenceMissing | None = None


class _Judged(NamedTuple):
    outcomes: tuple[GateOutcome, ...]
    report: Report | None
    exit_code: int
    lack: EvidenceMissing | None


def admit_release(
    store: Store, package: Path, arrivals: Sequence[Arrival], gate: Gate, *, dry_run: bool = False
) -> AdmittedRelease:
    """Store ``arrivals``, the libraries of a package, in one transaction if the release passes, or none of them.

    A release that fails and is to be kept is kept whole, as candidates. What the store binds to one of its libraries
    holds for all. Raises what refuses one of them.
    """
    names = {name for each in arrivals for name in names_for(each.line.library, each.soname)}
    gate = obeyed(store, gate, names)
    if gate.is_open and not dry_run:
        with store.transaction():
            return AdmittedRelease(tuple(_stored(store, each) for each in arrivals))
    admission = _ReleaseAdmission(store, package, arrivals, gate)
    if dry_run:
        return admission.foresee()
    for _ in range(ATTEMPTS):
        standings = admission.standings()
        judged = admission.judge(standings)
        if admission.refuses(judged, standings):
            return _refused(judged)
        with store.transaction():
            admission.hold()
            if admission.standings() == standings:
                return admission.settle(judged, standings)
    with store.transaction():
        admission.hold()
        standings = admission.standings()
        judged = admission.judge(standings)
        return _refused(judged) if admission.refuses(judged, standings) else admission.settle(judged, standings)


def _stored(store: Store, arrival: Arrival) -> Admitted:
    return Admitted(GateOutcome(), as_known(arrival.release) if arrival.release else store_as(store, arrival))


def _refused(judged: _Judged) -> AdmittedRelease:
    return AdmittedRelease(tuple(map(Admitted, judged.outcomes)), judged.report, judged.exit_code, judged.lack)


class _Member(NamedTuple):
    """A library of a release, and what it is judged against; ``None`` for one that is judged against nothing."""

    admission: Admission
    standing: StoreState
    beside: Beside | None


_Side: TypeAlias = tuple[_Member, ...]


def _with_said(report: Report, side: _Side) -> Report:
    for each in side:
        line = each.admission.arrival.line
        if each.beside is not None and (line.library, line.target) == (report.new.library, report.new.target):
            return each.admission.report(each.beside, each.standing, report)
    return report


class _ReleaseAdmission:
    """One release at one gate."""

    def __init__(self, store: Store, package: Path, arrivals: Sequence[Arrival], gate: Gate) -> None:
        self.store, self.package, self.gate = store, package, gate
        self.members = [Admission(store, each, gate) for each in arrivals]

    def standings(self) -> list[StoreState]:
        return [each.standing() for each in self.members]

    def hold(self) -> None:
        """Keep all lines as they are until the transaction ends; in one order, so that no two wait for each other."""
        for line in sorted(each.arrival.line for each in self.members):
            self.store.hold(line)

    def judge(self, standings: Sequence[StoreState]) -> _Judged:
        outcomes = tuple(each.judge(standing) for each, standing in zip(self.members, standings, strict=True))
        reports = [each for each in (self._between(side) for side in self._sides(standings)) if each is not None]
        report = max(reports, key=severity) if reports else None
        code = max([report.exit_code if report else 0, *(each.exit_code for each in outcomes if each.lack is None)])
        lack = next((each.lack for each in outcomes if each.lack is not None), None) if not code else None
        if not code and lack is None and (lack := self._unjudged(reports)) is not None and report is not None:
            report = undecided(report, lack)
        return _Judged(outcomes, report, lack.exit_code if lack else code, lack)

    def _unjudged(self, reports: Sequence[Report]) -> EvidenceMissing | None:
        """The error that says which other builds of its libraries the package holds, which nobody looked at, or which
        library moved to a package that was not given."""
        required = self.gate.required
        told = (library_not_given(each, required) for each in reports)
        if (elsewhere := next((each for each in told if each is not None), None)) is not None:
            return elsewhere
        return unjudged_twins(str(self.package), self._packages()) if required.no_less else None

    def _packages(self) -> Iterator[Provenance]:
        for each in (member.arrival for member in self.members):
            told = each.release or each.snapshot
            if told is not None:
                yield told.provenance

    def _sides(self, standings: Sequence[StoreState]) -> Iterator[_Side]:
        """What the libraries are judged against together: what ``--against`` names, and what the baselines leave."""
        judged = tuple(zip(self.members, standings, strict=True))
        named = tuple(_Member(each, one, each.named(one)) for each, one in judged)
        left = tuple(_Member(each, one, each.left(one)) for each, one in judged)
        yield named
        if any(one.beside not in {None, other.beside} for one, other in zip(left, named, strict=True)):
            yield left

    def _between(self, side: _Side) -> Report | None:
        """The report about the release against the one that its libraries are judged against."""
        olds = [each.beside.old for each in side if each.beside is not None]
        if not olds:
            return None
        before = tuple(dict.fromkeys((*olds, *siblings(self.store, olds))))
        old = ReadRelease(self.package, tuple(self.store.load_many(before)))
        new = ReadRelease(self.package, tuple(map(self._snapshot, side)))
        judged = judge_releases(old, new, self.gate.by)
        judged = judged._replace(
            between=self._own(judged.between, side, before),
            libraries=tuple(_with_said(each, side) for each in judged.libraries),
        )
        allow = next(each.admission.allow(each.beside.old) for each in side if each.beside is not None)
        names = {name for each in side for name in each.admission.loaded_as}
        allow = msgspec.structs.replace(allow, loaded_as=tuple(sorted(names)))
        asked = DecisionRequest("release", fail_on=self.gate.fail_on, allow=allow, bound=self.gate.rule)
        return decided_release(report_of_release(judged), judged.libraries, asked)

    def _own(self, report: Report, side: _Side, before: Sequence[Release]) -> Report:
        """The report about findings between the libraries of a release, with their approvals.

        An approval must hold on each platform that the release ``before`` had the library for.
        """
        at, standing = next(
            (each.admission.place(each.standing, report, each.beside), each.standing)
            for each in side
            if each.beside is not None
        )
        undone = undone_between(self.store, before)

        def places(library: str) -> Iterator[GatePlace]:
            scheme = self.store.scheme(library)
            for line in sorted(each.line for each in before if each.line.library == library):
                yield at._replace(scheme=scheme, target=line.target, profile=line.profile, undone=undone)

        return approved_between(report, standing.approvals, places)

    def _snapshot(self, member: _Member) -> Snapshot:
        snapshot, stored = member.admission.arrival.snapshot, member.standing.release
        if snapshot is None:
            assert stored is not None
            return self.store.load(stored)
        return snapshot

    def refuses(self, judged: _Judged, standings: Sequence[StoreState]) -> bool:
        """Whether nothing is to be written: the release fails, and a library of it is not stored yet."""
        is_new = any(standing.release is None for standing in standings)
        return bool(judged.exit_code) and is_new and not self.gate.keep_failed

    def settle(self, judged: _Judged, standings: Sequence[StoreState]) -> AdmittedRelease:
        """Store all libraries, as releases or as candidates; move their baselines if the release passed."""
        outcomes = (each._replace(exit_code=judged.exit_code) for each in judged.outcomes)
        members = zip(self.members, outcomes, standings, strict=True)
        settled = tuple(each.settle(outcome, standing) for each, outcome, standing in members)
        return AdmittedRelease(settled, judged.report, judged.exit_code, judged.lack)

    def foresee(self) -> AdmittedRelease:
        judged = self.judge(self.standings()) if not self.gate.is_open else _Judged((), None, 0, None)
        seen = tuple(foresee(self.store, each.arrival, self.gate) for each in self.members)
        if judged.exit_code:
            status: Status = "candidate" if self.gate.keep_failed else "refused"
            seen = tuple(each if each.foreseen == "known" else each._replace(foreseen=status) for each in seen)
        return AdmittedRelease(seen, judged.report, judged.exit_code, judged.lack)
