"""Storing packages and folders: one release of all libraries in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UnsetType

from abistore.errors import EvidenceMissing
from abistore.model.history import DEFAULT_PROFILE, IngestRequest, Release
from abistore.model.snapshot import PackageRead, Provenance, Snapshot
from abistore.service.ingest.gates import Arrival, Status
from abistore.service.ingest.release_admission import AdmittedRelease, admit_release
from abistore.service.ingest.results import Ingested, IngestPlan
from abistore.service.judging.evidence import lacked
from abistore.service.snapshots import InputFile, ReadRelease, captured_all, check_target

if TYPE_CHECKING:
    from abistore.store.store import Store

ORDER: tuple[Status, ...] = ("failed", "refused", "candidate", "replaced", "stored", "known")
"""The status of a release is the first of these that one of its libraries has."""


def read_package(file: InputFile, plan: IngestPlan) -> ReadRelease:
    """All libraries of a package or folder, for ``plan.target``. Raises :class:`InputError`, :class:`Incomparable`."""
    libraries = captured_all(file, options=plan.options)
    fitting = tuple(each for each in libraries if plan.target in (None, str(each.target), each.target.machine))
    if not fitting:
        check_target(libraries[0].target, file.path, plan.target)
    return ReadRelease(file.path, fitting)


def known_package(store: Store, file: InputFile, plan: IngestPlan) -> tuple[Release, ...]:
    """The releases that were stored from this very package, read in this way; none unless all of them are there."""
    from abistore.extract.packages.remembered import digest_of, how_read, is_repeatable

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
    """The one library of a package that fails as a whole."""
    verdict = lacked(member.verdict, lack) if member.verdict is not None else None
    told = {"code": lack.code, "error": lack.message, "hint": lack.hint}
    return msgspec.structs.replace(member, exit_code=lack.exit_code, verdict=verdict, **told)


def member_path(package: Path, provenance: Provenance) -> Path:
    """A library by its package and its path in it."""
    found = provenance.package
    return package / found.member if isinstance(found, PackageRead) else package


def _told_of(package: PackageRead, left_out: tuple[str, ...]) -> tuple[str, ...]:
    return (*((f"left out: {', '.join(left_out)}",) if left_out else ()), *package.doubts)
