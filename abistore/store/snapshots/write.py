"""Ingesting a snapshot: one transaction that writes what differs from the line's latest state, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from sqlalchemy import ColumnElement, and_, bindparam, func, insert, select

from abistore.errors import UsageError, VersionTaken
from abistore.model.digest import encode, snapshot_digest
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.labels.naming import check_name
from abistore.model.labels.steps import AUTO
from abistore.model.labels.versions import check_version, spellings_of
from abistore.model.snapshot import Snapshot
from abistore.store.database import seals, tables
from abistore.store.database.audit import now, record, stamp
from abistore.store.database.database import Database
from abistore.store.releases import baselines, cards, tagging
from abistore.store.releases.holding import hold
from abistore.store.releases.lines import scheme
from abistore.store.snapshots.entries import SnapshotRows, changes_of, write_entries
from abistore.store.snapshots.locations import pack

_NEXT = select(func.coalesce(func.max(cards.SNAPSHOT.sequence), 0) + 1).where(
    cards.SNAPSHOT.line_id == bindparam("line")
)
_LOCATE = insert(tables.location)


@dataclass(frozen=True, slots=True)
class LabelHolder:
    """What a snapshot would find under its label: the release there, and whether that is this very content."""

    current: Release | None
    known: bool


@dataclass(frozen=True, slots=True)
class _Arrival:
    """What is being ingested: the snapshot, what the caller says of it, and its rows to be."""

    snapshot: Snapshot
    request: IngestRequest
    content: SnapshotRows


def line_of(snapshot: Snapshot, request: IngestRequest) -> LineKey:
    """The line that a snapshot belongs to. Raises :class:`UsageError` for labels that no reference could name."""
    key = LineKey(request.library or snapshot.library, str(snapshot.target), request.profile)
    _check_labels(key, request.version)
    return key


def ingest(database: Database, snapshot: Snapshot, request: IngestRequest) -> IngestOutcome:
    """Remember ``snapshot`` as a release; a no-op where the release is stored with this content.

    Raises :class:`VersionTaken` where another binary has the version and the request does not replace it,
    :class:`UsageError` for a version or library name that no reference could name, and where a baseline stands at the
    release to be replaced.
    """
    key = line_of(snapshot, request)
    content = SnapshotRows.of(snapshot)
    with database.transaction():
        line = _line(database, key, request.version)
        found = (_kept if request.candidate else place)(database, snapshot, request, content.digest)
        if found.current and not request.candidate:
            _check_spelling(found.current, request, found.known)
        if found.known and found.current:
            if request.read_here and _is_same_file(found.current, snapshot):
                _confirm(database, found.current, request.actor)
            return IngestOutcome(found.current, known=True, replaced=False, entries_written=0, shapes_written=0)
        _supersede(database, line, request)
        release, outcome = _write(database, line, _Arrival(snapshot, request, content))
        _record(database, release, found.current, request.actor)
        replaced = None if request.candidate else found.current
        if replaced is not None:
            baselines.follow(database, replaced, release, actor=request.actor, reason=request.replace_baseline)
        return IngestOutcome(release, False, replaced is not None, *outcome)


def place(database: Database, snapshot: Snapshot, request: IngestRequest, digest: bytes | None = None) -> LabelHolder:
    """What is stored under the label that ``request`` gives; ``digest`` is the snapshot's where that is known.

    Raises :class:`VersionTaken` or :class:`UsageError` where that may not be replaced.
    """
    key = line_of(snapshot, request)
    labels = spellings_of(request.version)
    current = next(filter(None, (_labelled(database, cards.RELEASES, key, each) for each in labels)), None)
    if current is None:
        return LabelHolder(None, False)
    same_file = _is_same_file(current, snapshot)
    same_content = current.digest == (digest or snapshot_digest(snapshot)).hex()
    if same_content and (same_file or not request.replace):
        return LabelHolder(current, True)
    if not request.replace:
        _refuse(current, same_file)
    channels = baselines.standing_at(database, current)
    if channels and not request.replace_baseline:
        hint = (
            f"give another --version, move it first (abistore baseline set {key.library}@VERSION "
            f"--channel {channels[0]}), or pass --replace-baseline with the reason"
        )
        raise UsageError(f"{current.reference}: baseline {', '.join(channels)} stands at it", hint)
    return LabelHolder(current, False)


def _write(database: Database, line: int, arrival: _Arrival) -> tuple[Release, tuple[int, int]]:
    """Append the snapshot to its line: its release, and the numbers of entries and of shapes written."""
    ((sequence,),) = database.rows(_NEXT, {"line": line})
    identifier, written = _append(database, line, sequence, arrival, {})
    return cards.find(database, cards.SNAPSHOT.id == identifier)[0], written


def _append(
    database: Database, line: int, sequence: int, arrival: _Arrival, said: Mapping[str, object]
) -> tuple[int, tuple[int, int]]:
    """Write the rows of a snapshot, in which columns are as ``said``: the card's id, and what :func:`_write` tells."""
    content, locations = arrival.content, arrival.snapshot.locations
    changes = changes_of(database, line, content)
    shapes_written = write_entries(database, line, sequence, content, changes)
    places = pack(locations, changes.names) if locations else None
    identifier = cards.insert(database, {**_card(line, sequence, arrival, places), **said})
    if places is not None:
        database.run(_LOCATE, {"snapshot_id": identifier, "body": places})
    return identifier, (len(changes.begin) + len(changes.end), shapes_written)


def bring(
    database: Database, snapshot: Snapshot, request: IngestRequest, least: int, said: Mapping[str, object]
) -> tuple[int, int]:
    """Append a snapshot of another store to its line, which is held, with columns as they are ``said`` there.

    Its number is ``least`` or the next one of the line. The row's id, and that number. Raises :class:`ValueError` where
    its content is not what is said.
    """
    content = SnapshotRows.of(snapshot)
    if content.digest != said["digest"]:
        raise ValueError(f"{request.library}@{request.version} has another digest")
    line = hold(database, line_of(snapshot, request))
    ((next_,),) = database.rows(_NEXT, {"line": line})
    sequence = max(least, next_)
    return _append(database, line, sequence, _Arrival(snapshot, request, content), said)[0], sequence


def _check_labels(key: LineKey, version: str) -> None:
    check_name("version", version)
    check_name("library", key.library)
    check_name("profile", key.profile)


def _refuse(current: Release, same_file: bool) -> NoReturn:
    label = f"{current.line.library}@{current.version}"
    if same_file and current.provenance.sha256:
        message = f"{label}: this file is stored, and more or less was read from it then"
        raise VersionTaken(message, "pass --replace to store what is read now; the old reading stays in the audit")
    origin = f"{current.provenance.file or 'unnamed'}, sha256 {current.provenance.sha256[:12] or 'unknown'}"
    message = f"{label}: another binary is stored under this version ({origin}, {current.line.target})"
    raise VersionTaken(message, "give another --version, or pass --replace; the old one stays in the audit")


def _check_spelling(current: Release, request: IngestRequest, known: bool) -> None:
    """Raise :class:`UsageError` where a release would be replaced under another spelling of its label."""
    if not known and current.version != request.version:
        raise UsageError(f"{current.reference} is stored, and {request.version} is the same label", "spell it alike")


def _line(database: Database, key: LineKey, version: str) -> int:
    """The line's id, created where it is new; locked against other writers until the transaction ends."""
    line = hold(database, key)
    declared = scheme(database, key.library)
    if declared != AUTO:
        check_version(version, declared)
    return line


def _kept(database: Database, snapshot: Snapshot, request: IngestRequest, digest: bytes) -> LabelHolder:
    """The candidate that is kept under the label."""
    found = _labelled(database, cards.CANDIDATES, line_of(snapshot, request), request.version)
    return LabelHolder(found, found is not None and found.digest == digest.hex() and _is_same_file(found, snapshot))


def _labelled(database: Database, selected: ColumnElement[bool], key: LineKey, version: str) -> Release | None:
    line = (cards.LIBRARY.name == key.library, cards.LINE.target == key.target, cards.LINE.profile == key.profile)
    return next(iter(cards.find(database, and_(selected, *line, cards.SNAPSHOT.version == version))), None)


def _is_same_file(stored: Release, snapshot: Snapshot) -> bool:
    return stored.provenance.sha256 == snapshot.provenance.sha256


def _supersede(database: Database, line: int, request: IngestRequest) -> None:
    """Make room: a candidate takes the place of one with its label, a release that of both."""
    card = cards.SNAPSHOT
    statement = select(card.id).where(card.line_id == line, card.version == request.version, card.superseded == 0)
    for (identifier,) in database.rows(statement.where(card.candidate == 1) if request.candidate else statement):
        cards.amend(database, identifier, {"superseded": 1})


def _confirm(database: Database, current: Release, actor: str) -> None:
    """Note that a release which came in as JSON was read from its file now, with the same content."""
    identifier = cards.identifier(database, current)
    if not cards.find(database, and_(cards.SNAPSHOT.id == identifier, cards.SNAPSHOT.read_here == 1)):
        cards.amend(database, identifier, {"read_here": 1})
        record(database, actor, "read", _subject(current), _identity(current))


def _card(line: int, sequence: int, arrival: _Arrival, places: bytes | None) -> dict[str, object]:
    """The columns of the snapshot's row."""
    snapshot, request, content = arrival.snapshot, arrival.request, arrival.content
    return {
        "line_id": line,
        "sequence": sequence,
        "version": request.version,
        "superseded": 0,
        "digest": content.digest,
        "sha256": snapshot.provenance.sha256,
        "size": snapshot.provenance.size,
        "read_here": int(request.read_here),
        "build_id": snapshot.provenance.build_id,
        "soname": snapshot.facts.name if snapshot.facts else None,
        "exports": snapshot.exports,
        "declarations": cards.declarations(snapshot),
        "facets": encode(content.counts).decode(),
        "target": encode(snapshot.target).decode(),
        "provenance": encode(snapshot.provenance).decode(),
        "evidence": encode(snapshot.evidence).decode(),
        "revision": request.revision,
        "url": request.url,
        "ingested": now(),
        "released": stamp(request.released) if request.released else None,
        "candidate": int(request.candidate),
        "members": content.sum,
        "places": None if places is None else seals.of_bytes(places),
        "tags": tagging.column(request.tags),
    }


def _record(database: Database, release: Release, before: Release | None, actor: str) -> None:
    detail = _identity(release) + (f"; was {_identity(before)}" if before is not None else "")
    action = "candidate" if release.candidate else "ingest" if before is None else "replace"
    record(database, actor, action, _subject(release), detail)


def _subject(release: Release) -> str:
    return f"{release.line.library}@{release.version} ({release.line.target}, {release.line.profile})"


def _identity(release: Release) -> str:
    return f"digest {release.digest} sha256 {release.provenance.sha256 or '-'} sequence {release.sequence}"
