"""Storing packages and folders: one release of all libraries in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.model.history import IngestRequest
from abistore.model.snapshot import PackageRead, Snapshot
from abistore.service.ingest.gates import Arrival, Status
from abistore.service.ingest.release_admission import AdmittedRelease, admit_release
from abistore.service.ingest.results import Ingested, IngestPlan
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


def ingest_package(
    store: Store, package: ReadRelease, plan: IngestPlan, request_of: Callable[[Snapshot], IngestRequest]
) -> tuple[AdmittedRelease, Sequence[Arrival]]:
    """Store the libraries of a package as one release. Raises what refuses one of them: then none is stored."""
    requests = (msgspec.structs.replace(request_of(each), read_here=True) for each in package.libraries)
    arrivals = [Arrival.of(each, request) for each, request in zip(package.libraries, requests, strict=True)]
    return admit_release(store, package, arrivals, plan.gate, dry_run=plan.dry_run), arrivals


def told(package: ReadRelease, admitted: AdmittedRelease, members: Sequence[Ingested]) -> Ingested:
    """The result about a package: that of its one library, or one with ``members``."""
    report, lack = admitted.report, admitted.lack
    if len(members) == 1 and (report is None or len(report.libraries) == 1):
        return msgspec.structs.replace(members[0], path=str(package.path))
    statuses = {each.status for each in members}
    return Ingested(
        path=str(package.path),
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
        notes=_left_out(package),
        members=tuple(msgspec.structs.replace(each, code="", error="", verdict=None) for each in members),
    )


def member_path(package: Path, snapshot: Snapshot) -> Path:
    """A library by its package and its path in it."""
    found = snapshot.provenance.package
    return package / found.member if isinstance(found, PackageRead) else package


def _left_out(package: ReadRelease) -> tuple[str, ...]:
    found = package.libraries[0].provenance.package
    names = found.left_out if isinstance(found, PackageRead) else ()
    return (f"left out: {', '.join(names)}",) if names else ()
