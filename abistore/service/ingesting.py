"""Storing the snapshots of files, one release each, and judging them on their way in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from abistore.errors import AbistoreError, Incomparable, InputError, SnapshotNotFound, UsageError
from abistore.model.cycles import without_cycle_collection
from abistore.model.history import DEFAULT_CHANNEL, DEFAULT_PROFILE, IngestRequest, Release, Said
from abistore.model.names import SELF
from abistore.model.shapes import Library
from abistore.model.snapshot import Exported, Snapshot, Target
from abistore.model.sonames import library_name
from abistore.model.versions import position
from abistore.service.database import open_store, user
from abistore.service.labels import check_label
from abistore.service.ordering import standing_note
from abistore.service.ruling import Ruling
from abistore.service.snapshots import ExtractOptions, capture, file_digest, is_json, one_of, read_head

if TYPE_CHECKING:
    from abistore.report.outline import Report
    from abistore.service.judging import FailOn
    from abistore.store.store import Store

VersionFrom: TypeAlias = Literal["filename", "folder", "soname"]
"""Where a version comes from when none is given: ``libz.so.1.3.1``, ``1.3.1/libz.so``, or the SONAME."""

Progress: TypeAlias = Callable[[str, float], None]

IN_FILE_NAME = (
    re.compile(r"\.so\.(\d[\w.+~-]*)$"),
    re.compile(r"[-_]v?(\d[\w.+~-]*?)(?:\.so|\.abi)?(?:\.json|\.\d+)*$"),
)
IN_FOLDER_NAME = re.compile(r"(?:^|(?<!x86)[-_])v?(\d[\w.+~-]*)$")


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """What holds for every file of one call.

    ``target`` refuses files of another platform. ``channel`` is the baseline that moves to each stored release whose
    gate passes. ``against`` is what each is judged against: ``baseline[:channel]``, ``prev`` or a version; ``by`` is
    the policy and the suppressions. Where ``profile``, ``revision``, ``url`` or ``released`` are not given, a JSON
    snapshot says them that was exported with them.
    """

    library: str | None = None
    version: str | None = None
    version_from: VersionFrom | None = None
    target: str | None = None
    profile: str | None = None
    replace: bool = False
    revision: str | None = None
    url: str | None = None
    released: datetime | None = None
    channel: str | None = None
    against: str | None = None
    fail_on: FailOn = "api_break"
    actor: str = ""
    options: ExtractOptions = field(default_factory=ExtractOptions)
    by: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file.

    ``status``: ``stored``, ``replaced``, ``known`` (the very file was there: nothing was read) or
    ``failed`` with the error's ``code``, ``error`` and ``hint``. A file that was stored and could not be judged is
    ``failed`` with a ``release``. ``unjudged`` says why a first release has no verdict where one was asked for.
    ``mended`` names what the call says about a known release that nobody had said. ``notes`` tell what is unusual
    about a file that was read, and what stays as it was said of a known release.
    """

    path: str
    status: Literal["stored", "replaced", "known", "failed"]
    exit_code: int = 0
    release: Release | None = None
    verdict: Report | None = None
    unjudged: str = ""
    baseline: str | None = None
    entries_written: int = 0
    shapes_written: int = 0
    code: str = ""
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()


def ingest(
    paths: Sequence[Path],
    plan: IngestPlan,
    *,
    database: str | Path | None = None,
    progress: Progress | None = None,
) -> tuple[Ingested, ...]:
    """Store each file as a release of its library; a file that fails leaves the others stored.

    Files are taken as given, or in release order where ``plan.version_from`` finds every version in their paths.

    Raises :class:`AbistoreError` itself only where the whole call is wrong or the database cannot be opened.
    """
    for what in ("library", "version", "profile", "revision", "url", "actor"):
        check_label(what, getattr(plan, what))
    options = replace(plan.options, progress=progress)
    results = []
    with open_store(database, write=True, create=True) as store:
        for number, path in enumerate(_in_release_order(paths, plan)):
            if progress:
                progress(path.name, number / len(paths))
            # per file: what it leaves is freed before the collection looks at what is left
            with without_cycle_collection():
                result = _ingest_safely(store, path, replace(plan, options=one_of(options, number, len(paths))))
            results.append(_placed(store, result))
    return tuple(results)


def _in_release_order(paths: Sequence[Path], plan: IngestPlan) -> Sequence[Path]:
    """Oldest first where the paths tell every version: a shell's ``*`` puts 1.10 before 1.9."""
    versions = [_version_of_path(path, plan.version_from) or "" for path in paths]
    if plan.version or not all(versions):
        return paths
    ordered = sorted(enumerate(paths), key=lambda numbered: position(versions[numbered[0]], numbered[0]))
    return [path for _, path in ordered]


def _placed(store: Store, result: Ingested) -> Ingested:
    """The result, with a note where the new release is not ordered by its version."""
    if result.release is None or result.status not in {"stored", "replaced"}:
        return result
    note = standing_note(store, result.release)
    return replace(result, notes=(*result.notes, note)) if note else result


def _ingest_safely(store: Store, path: Path, plan: IngestPlan) -> Ingested:
    outcome: Ingested | None = None
    try:
        outcome = _ingest_file(store, path, plan)
        assert outcome.release is not None
        return _settle(store, outcome, outcome.release, plan)
    except AbistoreError as error:
        return Ingested(
            path=str(path),
            status="failed",
            exit_code=error.exit_code,
            release=outcome.release if outcome else None,
            unjudged=error.message if outcome else "",
            code=error.code,
            error=error.message,
            hint=error.hint,
        )


def _ingest_file(store: Store, path: Path, plan: IngestPlan) -> Ingested:
    read_here = not is_json(read_head(path))
    if read_here and (known := _known(store, path, plan)):
        _check_target(known.target, path, plan)
        return _supplemented(store, Ingested(str(path), "known", release=known), known, _said(Exported(), plan), plan)
    snapshot = capture(path, options=plan.options)
    _check_target(snapshot.target, path, plan)
    request = msgspec.structs.replace(_request(snapshot, path, plan), read_here=read_here)
    outcome = store.ingest(snapshot, request)
    status: Literal["known", "replaced", "stored"] = (
        "known" if outcome.known else "replaced" if outcome.replaced else "stored"
    )
    ingested = Ingested(
        str(path),
        status,
        release=outcome.release,
        entries_written=outcome.entries_written,
        shapes_written=outcome.shapes_written,
        notes=tuple(_unusual(snapshot)),
    )
    said = Said(request.released, request.revision, request.url)
    return _supplemented(store, ingested, outcome.release, said, plan) if outcome.known else ingested


def _supplemented(store: Store, known: Ingested, release: Release, said: Said, plan: IngestPlan) -> Ingested:
    """A known release, about which the caller may say what nobody has said yet."""
    done = store.supplement(release, said, plan.actor or user())
    label = f"{release.line.library}@{release.version}"
    kept = (
        f"{fact} stays {_shown(getattr(done.before, fact))} (to change it: abistore release edit {label} --{fact})"
        for fact in done.kept
    )
    return replace(known, release=done.release, mended=done.changed, notes=(*known.notes, *kept))


def _shown(value: datetime | str) -> str:
    return value if isinstance(value, str) else f"{value:%Y-%m-%d}"


def _said(exported: Exported, plan: IngestPlan) -> Said:
    """What the caller says about a release, else what the snapshot was exported with."""
    return Said(plan.released or exported.released, plan.revision or exported.revision, plan.url or exported.url)


def _unusual(snapshot: Snapshot) -> Iterator[str]:
    library = _facts(snapshot)
    if library and library.file_kind == "executable":
        yield "an executable (its exports are what plugins link to)"


def _known(store: Store, path: Path, plan: IngestPlan) -> Release | None:
    """The release stored from this very file under the labels asked for, unless reading it again could say more."""
    version = plan.version or _version_of_path(path, plan.version_from)
    if plan.replace or (plan.version_from and not version):
        return None
    profile = plan.profile or DEFAULT_PROFILE
    if not store.may_know(_size(path), version, profile, plan.library):
        return None
    known = store.known(file_digest(path), version, profile, plan.library)
    if known and not plan.library and known.line.library != library_name(known.soname or path.name):
        return None  # somebody stored it under another library's name
    search = plan.options.debug_dirs or plan.options.debuginfod
    if known and search and any(evidence.state != "full" for evidence in known.evidence):
        return None
    return known


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", "check the path and its permissions") from error


def _request(snapshot: Snapshot, path: Path, plan: IngestPlan) -> IngestRequest:
    version = _version(snapshot, path, plan)
    check_label("version", version)
    check_label("library", plan.library or snapshot.library)
    exported = snapshot.exported or Exported()
    for what in ("profile", "revision", "url"):
        check_label(what, getattr(exported, what))
    said = _said(exported, plan)
    return IngestRequest(
        version=version,
        profile=plan.profile or exported.profile or DEFAULT_PROFILE,
        library=plan.library,
        replace=plan.replace,
        revision=said.revision,
        url=said.url,
        actor=plan.actor or user(),
        released=said.released,
    )


def _version(snapshot: Snapshot, path: Path, plan: IngestPlan) -> str:
    found = plan.version or _version_of_path(path, plan.version_from)
    if not found and plan.version_from == "soname":
        found = _version_of_soname(snapshot)
    found = found or snapshot.version
    if not found:
        tried = f" (--version-from {plan.version_from} finds none)" if plan.version_from else ""
        raise UsageError(
            f"{path}: no version given{tried}",
            "pass --version, or --version-from filename, folder or soname",
        )
    return found


def _version_of_path(path: Path, source: VersionFrom | None) -> str | None:
    if source == "filename":
        name = path.resolve().name
        matches = (pattern.search(name) for pattern in IN_FILE_NAME)
        return next((match[1] for match in matches if match), None)
    if source == "folder":
        match = IN_FOLDER_NAME.search(path.absolute().parent.name)
        return match[1] if match else None
    return None


def _version_of_soname(snapshot: Snapshot) -> str | None:
    library = _facts(snapshot)
    match = IN_FILE_NAME[0].search((library and library.soname) or "")
    return match[1] if match else None


def _facts(snapshot: Snapshot) -> Library | None:
    """The facts of the whole file, where its tables tell them."""
    return next((shape for shape in snapshot.variants("symbol", SELF) if isinstance(shape, Library)), None)


def _check_target(target: Target, path: Path, plan: IngestPlan) -> None:
    if plan.target and plan.target not in {str(target), target.machine}:
        raise Incomparable(f"{path}: built for {target}, not for {plan.target}", "name the binary of that platform")


def _settle(store: Store, outcome: Ingested, release: Release, plan: IngestPlan) -> Ingested:
    """Judge a stored release, and move the baseline where the gate lets it pass."""
    report, unjudged = _judged(store, release, plan) if plan.against else (None, "")
    code = report.exit_code if report else 0
    channel = plan.channel if code == 0 else None
    if channel:
        store.set_baseline(release.line, channel, release.version, plan.actor or user(), "ingest")
    return replace(outcome, exit_code=code, verdict=report, unjudged=unjudged, baseline=channel)


def _judged(store: Store, release: Release, plan: IngestPlan) -> tuple[Report | None, str]:
    """The verdict asked for, or why a first release has none."""
    from abistore.service.judging import gated
    from abistore.service.verdicts import counterpart, judged, save

    against = plan.against or ""
    try:
        other = counterpart(store, release, against)
    except SnapshotNotFound:
        if against == "prev":
            return None, "nothing precedes it"
        if against.startswith("baseline") and plan.channel == (against.partition(":")[2] or DEFAULT_CHANNEL):
            return None, "the first baseline"
        raise
    judgement = judged(store, other, release, by=plan.by)
    save(store, [judgement])
    return gated(judgement.report, plan.fail_on), ""
