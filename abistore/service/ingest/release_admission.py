"""Judging a release of several libraries before it is stored: all of them are stored, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing
from abistore.model.history import Release
from abistore.model.judging.approvals import GatePlace
from abistore.model.snapshot import Provenance, Snapshot
from abistore.report.model import Report
from abistore.service.approvals.gate import approved_between
from abistore.service.ingest.admission import ATTEMPTS, Admission, Beside, StoreState, foresee, severity
from abistore.service.ingest.gates import Admitted, Arrival, Gate, GateOutcome, Status, as_known, store_as
from abistore.service.ingest.siblings import siblings, undone_between
from abistore.service.judging.evidence import NOTHING, lacked
from abistore.service.judging.places import unjudged_twins
from abistore.service.judging.releases import SaidOfRelease, judge_releases, library_not_given
from abistore.service.snapshots import ReadRelease

if TYPE_CHECKING:
    from abistore.store.store import Store


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

    A release that fails and is to be kept is kept whole, as candidates. Raises what refuses one of them.
    """
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
    """The report about one library with what is approved of it."""
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
        """What the store holds now for each library."""
        return [each.standing() for each in self.members]

    def hold(self) -> None:
        """Keep all lines as they are until the transaction ends; in one order, so that no two wait for each other."""
        for line in sorted(each.arrival.line for each in self.members):
            self.store.hold(line)

    def judge(self, standings: Sequence[StoreState]) -> _Judged:
        """The gate's answer about each library and about all."""
        outcomes = tuple(each.judge(standing) for each, standing in zip(self.members, standings, strict=True))
        reports = [each for each in (self._between(side) for side in self._sides(standings)) if each is not None]
        report = max(reports, key=severity) if reports else None
        code = max([report.exit_code if report else 0, *(each.exit_code for each in outcomes if each.lack is None)])
        lack = next((each.lack for each in outcomes if each.lack is not None), None) if not code else None
        if not code and lack is None and (lack := self._unjudged(reports)) is not None and report is not None:
            report = lacked(report, lack)
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
        said = SaidOfRelease(lambda report: _with_said(report, side), lambda own: self._own(own, side, before))
        allow = next(each.admission.allow(each.beside.old) for each in side if each.beside is not None)
        names = {name for each in side for name in each.admission.loaded_as}
        allow = msgspec.structs.replace(allow, loaded_as=tuple(sorted(names)))
        return judge_releases(
            *(old, new), self.gate.by, fail_on=self.gate.fail_on, require=NOTHING, said=said, allow=allow
        )

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
        """What would become of the release."""
        judged = self.judge(self.standings()) if not self.gate.is_open else _Judged((), None, 0, None)
        seen = tuple(foresee(self.store, each.arrival, self.gate) for each in self.members)
        if judged.exit_code:
            status: Status = "candidate" if self.gate.keep_failed else "refused"
            seen = tuple(each if each.foreseen == "known" else each._replace(foreseen=status) for each in seen)
        return AdmittedRelease(seen, judged.report, judged.exit_code, judged.lack)
