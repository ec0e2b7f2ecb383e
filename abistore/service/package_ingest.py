"""Storing packages and folders: one release of all libraries in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec import UnsetType

from abistore.errors import EvidenceMissing, InputError, UsageError, VersionTaken
from abistore.extract.files import InputFile
from abistore.model.approvals import Approval, ApprovedFacts, in_force
from abistore.model.findings import is_whole
from abistore.model.history import DEFAULT_PROFILE, FindingReview, IngestRequest, Release, ReviewState
from abistore.model.snapshot import Exported, ExportedApproval, ExportedReview, PackageRead, Provenance, Snapshot
from abistore.model.words import counted, in_line
from abistore.service.admission import AdmittedRelease, admit_release
from abistore.service.approved_gates import of_library
from abistore.service.approving import check_finding, scope_of, until_of
from abistore.service.decision import undecided
from abistore.service.ingest_gates import Arrival, Ingested, IngestPlan, Status
from abistore.service.snapshots import Reading, ReadRelease, captured_all, check_note, check_target

if TYPE_CHECKING:
    from abistore.store.store import Store

MOST = 5_000
"""How many reviews, or approvals, a snapshot may carry."""

LEFT_OUT = "left out (import --approvals takes them over)"
NAME_SHOWN = 120


def exported_said(store: Store, library: str) -> tuple[tuple[ExportedReview, ...], tuple[ExportedApproval, ...]]:
    """The reviews and approvals of a library that hold."""
    last = {one.identity: one for one in of_library(store.reviews(), library)}
    reviews = (
        ExportedReview(one.identity, one.state, one.actor, one.reviewed, one.note)
        for _, one in sorted(last.items())
        if one.state != "open"
    )
    return tuple(reviews), tuple(map(_exported, in_force(of_library(store.approvals(), library))))


def _exported(one: Approval) -> ExportedApproval:
    terms = (one.identity, one.scope, one.reason, one.approver, one.approved, one.until, one.ticket)
    facts = msgspec.structs.asdict(one.facts) if one.facts else {}
    return ExportedApproval(*terms, **facts, target=one.target, stood_at=one.stood_at, profile=one.profile)


def check_said(path: Path, said: Exported) -> None:
    """Raise :class:`InputError` for reviews or approvals that are not sound, before anything is stored."""
    try:
        if max(len(said.reviews), len(said.approvals)) > MOST:
            raise UsageError(f"more than {MOST:,} reviews or approvals", "export it again")
        for review in said.reviews:
            _review(review, "x", "x")
        for approval in said.approvals:
            _approval(approval, "x", "x", "x")
    except UsageError as error:
        raise InputError(f"{path}: {error.message}", error.hint) from error


def take_over(store: Store, library: str, said: Exported, origin: tuple[Path, str], approvals: bool) -> tuple[str, ...]:
    """Store the reviews and approvals of a snapshot; remarks about it. What was said here of the same finding stays.

    ``origin`` is the file, and who imports it. Approvals open gates: they are left out unless ``approvals`` asks for
    them, and one that was withdrawn here stays withdrawn.
    """
    path, actor = origin
    return (
        *_reviews(store, library, said.reviews, actor),
        *_approvals(store, library, said.approvals, (in_line(path.name, NAME_SHOWN), actor), approvals),
    )


def _reviews(store: Store, library: str, said: tuple[ExportedReview, ...], actor: str) -> Iterator[str]:
    known = {one.identity for one in of_library(store.reviews(), library)}
    new = [_review(one, library, actor) for one in said if one.identity not in known]
    if new:
        store.review_all(new)
        yield f"{counted(len(new), 'review')} taken over"


def _approvals(
    store: Store, library: str, said: tuple[ExportedApproval, ...], origin: tuple[str, str], wanted: bool
) -> Iterator[str]:
    known = {one.about for one in of_library(store.approvals(), library)}
    name, actor = origin
    new = [_approval(one, library, f"import of {name}", actor) for one in said]
    new = [one for one in new if one.about not in known]
    if new and wanted:
        store.approve(new)
        approvers = ", ".join(sorted({one.approver for one in new}))
        yield f"{counted(len(new), 'approval')} taken over, by {in_line(approvers, NAME_SHOWN)}"
    elif new:
        yield f"{counted(len(new), 'approval')} {LEFT_OUT}"


def _review(one: ExportedReview, library: str, actor: str) -> FindingReview:
    states: tuple[ReviewState, ...] = get_args(ReviewState)
    state = next((each for each in states if each == one.state), None)
    if state is None or not is_whole(one.identity):
        raise UsageError(f"not a review: {one.state[:40]!r} of {one.identity[:40]!r}", "export it again")
    for what in ("note", "actor"):
        check_note(what, getattr(one, what))
    said = f"{one.actor}, imported by {actor}"
    return FindingReview(library, one.identity, state, one.note, said, _no_later(one.reviewed))


def _approval(one: ExportedApproval, library: str, origin: str, actor: str) -> Approval:
    for what in ("reason", "ticket", "approver", "target", "stood_at", "profile"):
        check_note(what, getattr(one, what))
    if not one.reason.strip() or not one.approver.strip():
        raise UsageError("an approval without a reason or an approver", "export it again")
    facts = _facts(one)
    check_finding(one.identity, facts)
    terms = (scope_of(one.scope), until_of(one.until), one.reason, one.ticket, one.approver)
    when = _no_later(one.approved)
    said = (library, one.identity, facts, *terms, actor, when, origin)
    return Approval(*said, target=one.target, stood_at=one.stood_at, profile=one.profile or DEFAULT_PROFILE)


def _facts(one: ExportedApproval) -> ApprovedFacts | None:
    told: dict[str, Any] = {name: getattr(one, name) for name in ApprovedFacts.__struct_fields__}
    try:
        return msgspec.convert(told, ApprovedFacts) if one.kind else None
    except msgspec.ValidationError as error:
        raise UsageError(
            f"an approval of {one.subject[:40]!r}, which is not a declaration", "export it again"
        ) from error


def _no_later(moment: datetime) -> datetime:
    """A moment that another store tells, which is not to come."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return min(aware, datetime.now(UTC))


ORDER: tuple[Status, ...] = ("failed", "refused", "candidate", "replaced", "stored", "known")
"""The status of a release is the first of these that one of its libraries has."""


def read_package(file: InputFile, plan: IngestPlan, read: Reading) -> ReadRelease:
    """All libraries of a package or folder, for ``plan.target``. Raises :class:`InputError`, :class:`Incomparable`."""
    libraries = captured_all(file, options=plan.options, read=read)
    fitting = tuple(each for each in libraries if plan.target in (None, str(each.target), each.target.machine))
    if not fitting:
        check_target(libraries[0].target, file.path, plan.target)
    if not plan.gate.against:  # a gate refuses them as evidence that is missing
        _check_one_of_each(file.path, fitting)
    return ReadRelease(file.path, fitting)


def _check_one_of_each(path: Path, libraries: Sequence[Snapshot]) -> None:
    """Raise :class:`VersionTaken` for two different libraries of one name: a line has room for one of them."""
    packages = (each.provenance.package for each in libraries)
    twins = sorted({twin for each in packages if isinstance(each, PackageRead) for twin in each.twins})
    if not twins:
        return
    names = {twin.removesuffix(")").rpartition(" ")[2] for twin in twins}
    kept = [
        each.provenance.package.member
        for each in libraries
        if each.library in names and isinstance(each.provenance.package, PackageRead)
    ]
    raise VersionTaken(
        f"{path}: different libraries have one name: {', '.join(kept)} and {', '.join(twins)}",
        "ingest them one by one: --only PATH for one, --only PATH --library NAME for the other",
    )


def known_package(store: Store, file: InputFile, plan: IngestPlan) -> tuple[Release, ...]:
    """The releases that were stored from this very package, read in this way; none unless all of them are there."""
    from abistore.extract.packages.reader import digest_of, how_read, is_repeatable

    if plan.replace or plan.library or not (digest := digest_of(file)):
        return ()
    found = store.of_package(digest, plan.version, plan.profile or DEFAULT_PROFILE)
    read = how_read(file, plan.options) if found else ()
    if not is_repeatable(read):
        return ()
    told = [(each, each.provenance.package) for each in found]
    same = [(each, package) for each, package in told if isinstance(package, PackageRead) and package.read == read]
    if plan.version is None:
        same = [(each, package) for each, package in same if package.version == each.version]
    if len({each.version for each, _ in same}) != 1 or len(same) != same[0][1].libraries:
        return ()
    return tuple(each for each, _ in same if plan.target is None or each.target.is_called(plan.target))


def ingest_package(
    store: Store, package: ReadRelease, plan: IngestPlan, request_of: Callable[[Snapshot], IngestRequest]
) -> tuple[AdmittedRelease, Sequence[Arrival]]:
    """Store the libraries of a package as one release. Raises what refuses one of them: then none is stored."""
    requests = (msgspec.structs.replace(request_of(each), read_here=True) for each in package.libraries)
    arrivals = [Arrival.of(each, request) for each, request in zip(package.libraries, requests, strict=True)]
    return admit_release(store, package.path, arrivals, plan.gate, dry_run=plan.dry_run), arrivals


def admit_known(
    store: Store, file: InputFile, plan: IngestPlan, known: Sequence[Release], actor: str
) -> AdmittedRelease:
    """What the gate says of a package that is stored already."""
    arrivals = [Arrival.known(each, actor) for each in known]
    return admit_release(store, file.path, arrivals, plan.gate, dry_run=plan.dry_run)


def told(
    path: Path, admitted: AdmittedRelease, members: Sequence[Ingested], about: PackageRead | UnsetType
) -> Ingested:
    """The result about a package: that of its one library, or one with ``members``."""
    report, lack = admitted.report, admitted.lack
    if len(members) == 1 and (report is None or len(report.libraries) == 1):
        notes = _told_of(about, about.twins) if isinstance(about, PackageRead) else ()
        only = members[0] if lack is None else _refused(members[0], lack)
        return msgspec.structs.replace(only, path=str(path), notes=(*only.notes, *notes))
    statuses = {each.status for each in members}
    return Ingested(
        path=str(path),
        status=next(each for each in ORDER if each in statuses),
        exit_code=admitted.exit_code,
        created=any(each.created for each in members),
        dry_run=any(each.dry_run for each in members),
        verdict=report,
        unjudged=next((each.unjudged for each in members if each.unjudged), "") if report is None else "",
        entries_written=sum(each.entries_written for each in members),
        shapes_written=sum(each.shapes_written for each in members),
        code=lack.code if lack else "",
        error=lack.message if lack else "",
        hint=lack.hint if lack else "",
        notes=_told_of(about, about.left_out) if isinstance(about, PackageRead) else (),
        members=tuple(msgspec.structs.replace(each, code="", error="", verdict=None) for each in members),
    )


def _refused(member: Ingested, lack: EvidenceMissing) -> Ingested:
    verdict = undecided(member.verdict, lack) if member.verdict is not None else None
    told = {"code": lack.code, "error": lack.message, "hint": lack.hint}
    return msgspec.structs.replace(member, exit_code=lack.exit_code, verdict=verdict, **told)


def member_path(package: Path, provenance: Provenance) -> Path:
    """A library by its package and its path in it."""
    found = provenance.package
    return package / found.member if isinstance(found, PackageRead) else package


def _told_of(package: PackageRead, left_out: tuple[str, ...]) -> tuple[str, ...]:
    return (*((f"NOT STORED: {', '.join(left_out)}",) if left_out else ()), *package.doubts)
