"""Storing files as releases, one each, judged first where a gate asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import AbistoreError, InputError, UsageError
from abistore.extract.bounded import read_bounded
from abistore.extract.files import InputFile, open_input
from abistore.extract.reader import is_package
from abistore.model.history import (
    DEFAULT_PROFILE,
    IngestOutcome,
    IngestRequest,
    Progress,
    Release,
    ReleaseFacts,
    TaggedRelease,
)
from abistore.model.labels import library_name
from abistore.model.layout import STRANGERS, STRANGERS_HINT, strangers
from abistore.model.snapshot import Exported, ReleaseTag, Snapshot, snapshot_digest
from abistore.model.structure import without_cycle_collection
from abistore.model.versions import position
from abistore.service.administration import standing_note, tag_of
from abistore.service.database import Database, user, using
from abistore.service.ingest_gates import (
    AS_IT_SAYS,
    Admitted,
    Arrival,
    Gate,
    GateOutcome,
    Ingested,
    IngestPlan,
    Status,
    as_known,
    store_as,
)
from abistore.service.project import VersionFrom
from abistore.service.snapshots import Reading, captured, check_label, check_target, has_architectures, is_json, one_of

if TYPE_CHECKING:
    from abistore.store.store import Store


def admit(store: Store, arrival: Arrival, gate: Gate, *, dry_run: bool = False) -> Admitted:
    """Store ``arrival``; it is judged first if ``gate`` asks for anything. With ``dry_run`` nothing is written.

    What the store binds to its library makes the gate stricter. Raises :class:`RuleBound` for a looser one.
    """
    if store.rules():
        from abistore.service.binding import names_for, obeyed  # imports all that judges

        gate = obeyed(store, gate, names_for(arrival.line.library, arrival.soname))
    if dry_run:
        from abistore.service.admission import foresee

        return foresee(store, arrival, gate)
    if not gate.is_open:
        from abistore.service.admission import admit_judged  # imports all that judges

        return admit_judged(store, arrival, gate)
    return Admitted(GateOutcome(), as_known(arrival.release) if arrival.release else store_as(store, arrival))


NO_EXPORTS = "nothing can link to it"
NO_BASELINE = "no first baseline (--set-baseline makes it one)"
NO_EXPORTS_HINT = (
    "a library without exports is seldom meant: check that it is the right file, its visibility "
    "(-fvisibility=hidden), and the version script that it was linked with"
)

IN_FILE_NAME = (
    re.compile(r"\.so\.(\d[\w.+~-]*)$"),
    re.compile(r"[-_]v?(\d[\w.+~-]*?)(?:\.so|\.abi)?(?:\.json|\.\d+)*$"),
)
INSTALLED = re.compile(r"lib|lib32|lib64|bin|usr|local|\w+-linux-\w+")
"""Folders within an install prefix, whose own name may tell the version."""

IN_FOLDER_NAME = re.compile(r"(?:^|(?<!x86)[-_])v?(\d[\w.+~-]*)$")


def ingest(
    paths: str | Path | Sequence[str | Path],
    plan: IngestPlan = AS_IT_SAYS,
    *,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[Ingested, ...]:
    """Store each file as a release of its library. If a file fails, the others are stored.

    Files are stored in the order given, or oldest first if ``plan.version_from`` finds every version in their paths.

    Raises :class:`AbistoreError` only if the whole call is wrong or the database cannot be opened.
    """
    check_plan(plan)
    options = msgspec.structs.replace(plan.options, progress=progress)
    paths = files_of(paths)
    results = []
    with using(database, write=not plan.dry_run, create=not plan.dry_run) as store:
        for number, path in enumerate(_in_release_order(paths, plan)):
            if progress:
                progress(path.name, number / len(paths))
            # one block for each file, so that its objects are freed before the next
            with without_cycle_collection():
                one = msgspec.structs.replace(plan, options=one_of(options, number, len(paths)))
                result = ingest_safely(path, partial(_ingest_one, store, path, one))
            results.append(placed(store, result))
    return tuple(results)


def check_plan(plan: IngestPlan) -> None:
    """Raise :class:`UsageError` for labels that no release can have, and for words that contradict each other."""
    for what in ("library", "version", "profile", "revision", "url", "actor"):
        check_label(what, getattr(plan, what))
    plan.gate.check()
    for tag in plan.tags:
        tag_of(tag)
    if plan.replace_baseline and not plan.replace:
        raise UsageError("--replace-baseline needs --replace", "pass both")


def files_of(paths: str | Path | Sequence[str | Path]) -> Sequence[Path]:
    """The paths of a call, which may be one."""
    return [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]


def _in_release_order(paths: Sequence[Path], plan: IngestPlan) -> Sequence[Path]:
    """Oldest first, if the paths give every version: a shell's ``*`` puts 1.10 before 1.9."""
    versions = [_version_of_path(path, plan.version_from) or "" for path in paths]
    if plan.version or not all(versions):
        return paths
    ordered = sorted(enumerate(paths), key=lambda numbered: position(versions[numbered[0]], numbered[0]))
    return [path for _, path in ordered]


def placed(store: Store, result: Ingested) -> Ingested:
    """The result, with a note if the new release is not ordered by its version."""
    if result.members:
        return msgspec.structs.replace(result, members=tuple(placed(store, each) for each in result.members))
    if result.release is None or result.status not in {"stored", "replaced"}:
        return result
    note = standing_note(store, result.release)
    return msgspec.structs.replace(result, notes=(*result.notes, note)) if note else result


def ingest_safely(path: Path, work: Callable[[], Ingested]) -> Ingested:
    """What ``work`` gives; where it fails, the failure of the file at ``path``."""
    try:
        return work()
    except AbistoreError as error:
        return Ingested(str(path), "failed", error.exit_code, code=error.code, error=error.message, hint=error.hint)


def _ingest_one(store: Store, path: Path, plan: IngestPlan) -> Ingested:
    with open_input(path) as file:
        return ingest_known(store, file, plan) or ingest_read(store, file, plan)


def ingest_known(store: Store, file: InputFile, plan: IngestPlan) -> Ingested | None:
    """What becomes of a file that is stored already, for which its digest suffices; ``None`` for any other.

    Raises what refuses it.
    """
    if has_several(file, plan):
        from abistore.service.package_ingest import known_package

        package = known_package(store, file, plan)
        if not package or any(_could_say_more(each, plan) for each in package):
            return None
        return _ingest_known_package(store, file, plan, package)
    if is_json(file) or not (known := _known(store, file, plan)):
        return None
    check_target(known.target, file.path, plan.target)
    _check_digest(file.path, known.digest, plan.expected_digest)
    arrival = Arrival.known(known, plan.actor or user())
    ingested = _ingested(
        file.path, admit(store, arrival, plan.gate, dry_run=plan.dry_run), _silent(known.exports, plan.gate)
    )
    return _completed(store, ingested, _said(Exported(), plan), tuple(map(tag_of, plan.tags)), plan)


def has_several(file: InputFile, plan: IngestPlan) -> bool:
    """Whether a file is one release of the libraries in it: a package, a folder, a file with several architectures."""
    return is_package(file) or (plan.target is None and has_architectures(file))


def ingest_read(store: Store, file: InputFile, plan: IngestPlan, read: Reading = read_bounded) -> Ingested:
    """What becomes of a file whose libraries ``read`` gives. Raises what refuses it."""
    return (_ingest_package if has_several(file, plan) else _ingest_file)(store, file, plan, read)


def _ingest_file(store: Store, file: InputFile, plan: IngestPlan, read: Reading) -> Ingested:
    path = file.path
    snapshot = captured(file, options=plan.options, target=plan.target, read=read)
    check_target(snapshot.target, path, plan.target)
    request = msgspec.structs.replace(_request(snapshot, path, plan), read_here=not is_json(file))
    arrival, said = Arrival.of(snapshot, request), ReleaseFacts(request.released, request.revision, request.url)
    if plan.expected_digest is not None:
        _check_digest(path, snapshot_digest(snapshot).hex(), plan.expected_digest)
    take_over = _taking_over(arrival, path, plan)
    notes = (*_unusual(snapshot), *_silent(snapshot.exports, plan.gate))
    ingested = _ingested(path, admit(store, arrival, plan.gate, dry_run=plan.dry_run), notes)
    if take_over and ingested.release and not ingested.release.candidate and not plan.dry_run:
        taken = take_over(store, ingested.release.line.library)
        ingested = msgspec.structs.replace(ingested, notes=(*ingested.notes, *taken))
    return _completed(store, ingested, said, request.tags, plan)


def _completed(
    store: Store, ingested: Ingested, said: ReleaseFacts, tags: tuple[ReleaseTag, ...], plan: IngestPlan
) -> Ingested:
    """The result, after what the caller says is added to a release that was known."""
    if ingested.status != "known" or plan.dry_run:
        return ingested
    with store.transaction() if tags else nullcontext():
        return _supplemented(store, ingested, said, tags, plan)


def _taking_over(arrival: Arrival, path: Path, plan: IngestPlan) -> Callable[[Store, str], tuple[str, ...]] | None:
    """A function that stores the reviews and approvals of a snapshot; ``None`` where it carries none."""
    carried = arrival.snapshot.exported if arrival.snapshot else None
    if not carried or not (carried.reviews or carried.approvals):
        return None
    from abistore.service.package_ingest import check_said, take_over  # few snapshots carry any

    check_said(path, carried)
    origin = (path, plan.actor or user())
    return lambda store, library: take_over(store, library, carried, origin, plan.approvals)


def _ingest_package(store: Store, file: InputFile, plan: IngestPlan, read: Reading) -> Ingested:
    from abistore.service.package_ingest import ingest_package, member_path, read_package, told

    package = read_package(file, plan, read)
    if plan.expected_digest is not None:
        _check_digest(
            file.path, _only_digest(snapshot_digest(each).hex() for each in package.libraries), plan.expected_digest
        )
    admitted, arrivals = ingest_package(store, package, plan, lambda each: _request(each, file.path, plan))
    members = []
    for snapshot, arrival, each in zip(package.libraries, arrivals, admitted.members, strict=True):
        notes = (*_unusual(snapshot), *_silent(snapshot.exports, plan.gate))
        result = _ingested(member_path(file.path, snapshot.provenance), each, notes)
        if result.status == "known" and not plan.dry_run:
            said = ReleaseFacts(arrival.request.released, arrival.request.revision, arrival.request.url)
            with store.transaction():
                result = _supplemented(store, result, said, arrival.request.tags, plan)
        members.append(result)
    return told(file.path, admitted, members, package.libraries[0].provenance.package)


def _ingest_known_package(store: Store, file: InputFile, plan: IngestPlan, known: Sequence[Release]) -> Ingested:
    """What becomes of a package that is stored already: nothing of it is unpacked."""
    from abistore.service.package_ingest import admit_known, member_path, told

    if plan.expected_digest is not None:
        _check_digest(file.path, _only_digest(each.digest for each in known), plan.expected_digest)
    admitted = admit_known(store, file, plan, known, plan.actor or user())
    members = []
    for release, each in zip(known, admitted.members, strict=True):
        result = _ingested(member_path(file.path, release.provenance), each, _silent(release.exports, plan.gate))
        if result.status == "known" and not plan.dry_run:
            with store.transaction():
                tags = tuple(map(tag_of, plan.tags))
                result = _supplemented(store, result, _said(Exported(), plan), tags, plan)
        members.append(result)
    return told(file.path, admitted, members, known[0].provenance.package)


def _only_digest(digests: Iterable[str]) -> str:
    """The digest of a package's only library. Raises :class:`UsageError` where it has several."""
    first, *others = digests
    if others:
        hint = "--expected-digest is for one library: leave it out, or choose one with --only"
        raise UsageError(f"the package has {len(others) + 1} libraries, and each has its digest", hint)
    return first


def _check_digest(path: Path, digest: str, expected: str | None) -> None:
    """Raise :class:`InputError` where a file is not the one that the caller has seen."""
    if expected is not None and not digest.startswith(expected.lower()):
        message = f"{path}: has the digest {digest[:12]}, and not {expected[:12]}"
        raise InputError(message, "it was built again, or is another file: look at it again")


def _ingested(path: Path, admitted: Admitted, notes: tuple[str, ...]) -> Ingested:
    (outcome, stored, baseline, _), lack = admitted, admitted.outcome.lack
    verdict, other, *_ = (*outcome.reports, None, None)
    return Ingested(
        path=str(path),
        status=admitted.foreseen or _status(stored),
        exit_code=outcome.exit_code,
        created=stored is not None and not stored.known,
        dry_run=admitted.foreseen is not None,
        release=stored.release if stored else None,
        verdict=verdict,
        other_verdict=other,
        unjudged=outcome.unjudged,
        decision=verdict.decision if verdict is not None else outcome.first,
        baseline=baseline,
        entries_written=stored.entries_written if stored else 0,
        shapes_written=stored.shapes_written if stored else 0,
        code=lack.code if lack else "",
        error=lack.message if lack else "",
        hint=lack.hint if lack else _hint(notes),
        notes=notes,
    )


def _hint(notes: tuple[str, ...]) -> str:
    if NO_EXPORTS in notes:
        return NO_EXPORTS_HINT
    return STRANGERS_HINT if any(note.startswith(STRANGERS) for note in notes) else ""


def _supplemented(
    store: Store, known: Ingested, said: ReleaseFacts, tags: tuple[ReleaseTag, ...], plan: IngestPlan
) -> Ingested:
    """A known release. The caller's day, revision and CI job fill the facts that were empty, and tags are added."""
    release = known.release
    assert release is not None
    actor = plan.actor or user()
    done = store.supplement(release, said, actor)
    tagged = store.tag(done.release, tags, actor) if tags else TaggedRelease(done.release, changed=False)
    label = f"{release.line.library}@{release.version}"
    kept = (
        f"{fact} stays {_shown(getattr(done.before, fact))} (to change it: abistore db release edit {label} --{fact})"
        for fact in done.kept
    )
    mended = (*done.changed, *(["tags"] if tagged.changed else []))
    return msgspec.structs.replace(known, release=tagged.release, mended=mended, notes=(*known.notes, *kept))


def _shown(value: datetime | str) -> str:
    return value if isinstance(value, str) else f"{value:%Y-%m-%d}"


def _said(exported: Exported, plan: IngestPlan) -> ReleaseFacts:
    """The facts that the caller gives, else those that the snapshot was exported with."""
    return ReleaseFacts(
        plan.released or exported.released, plan.revision or exported.revision, plan.url or exported.url
    )


def _status(stored: IngestOutcome | None) -> Status:
    if stored is None:
        return "refused"
    if stored.release.candidate:
        return "candidate"
    return "known" if stored.known else "replaced" if stored.replaced else "stored"


def _unusual(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.facts and snapshot.facts.file_kind == "executable":
        yield "an executable (its exports are what plugins link to)"
    if said := strangers(snapshot):
        yield said


def _silent(exports: int, gate: Gate) -> tuple[str, ...]:
    if exports:
        return ()
    return (NO_EXPORTS, NO_BASELINE) if gate.channel and gate.if_unset else (NO_EXPORTS,)


def _known(store: Store, file: InputFile, plan: IngestPlan) -> Release | None:
    """The release that was stored from this file under these labels, unless reading the file again could tell more."""
    path, version = file.path, plan.version or _version_of_path(file.path, plan.version_from)
    if plan.replace or (plan.version_from and not version):
        return None
    profile = plan.profile or DEFAULT_PROFILE
    if not store.may_know(file.size, version, profile, plan.library):
        return None
    known = store.known(file.sha256(), version, profile, plan.library)
    if known and not plan.library and known.line.library != library_name(known.soname or path.name):
        return None  # somebody stored it under another library's name
    if known and plan.target and not known.target.is_called(plan.target):
        return None  # another architecture of a universal file
    return None if known and _could_say_more(known, plan) else known


def _could_say_more(known: Release, plan: IngestPlan) -> bool:
    """Whether headers are given now, or debug information may be found now that was left out and is needed now."""
    headers = plan.options.headers
    if headers is not None and headers.of(known.line.library) is not None:
        return True
    if plan.options.debug_dirs or plan.options.debuginfod:
        return any(evidence.state != "full" for evidence in known.evidence)
    unread = "layout" not in {evidence.facet for evidence in known.evidence}
    return unread and plan.options.layout and not plan.gate.is_open


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
        replace_baseline=plan.replace_baseline,
        revision=said.revision,
        url=said.url,
        actor=plan.actor or user(),
        released=said.released,
        tags=(*exported.tags, *map(tag_of, plan.tags)),
    )


def labelled(snapshot: Snapshot, path: Path, plan: IngestPlan) -> Snapshot:
    """The snapshot of a file with the names and facts under which another store would import it."""
    request, exported = _request(snapshot, path, plan), snapshot.exported or Exported()
    profile = request.profile if request.profile != DEFAULT_PROFILE else None
    facts = {"released": request.released, "revision": request.revision, "url": request.url, "tags": request.tags}
    said = msgspec.structs.replace(exported, profile=profile, **facts)
    return msgspec.structs.replace(
        snapshot,
        library=request.library or snapshot.library,
        version=request.version,
        exported=said if said != Exported() else None,
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
        return _version_of_folder(path.absolute())
    return None


def _version_of_folder(path: Path) -> str | None:
    """The version in the name of a file's folder, or of the folder that holds an installed tree: 1.0.0/usr/lib."""
    for folder in path.parents:
        if match := IN_FOLDER_NAME.search(folder.name):
            return match[1]
        if not INSTALLED.fullmatch(folder.name):
            break
    return None


def _version_of_soname(snapshot: Snapshot) -> str | None:
    match = IN_FILE_NAME[0].search((snapshot.facts and snapshot.facts.name) or "")
    return match[1] if match else None
