"""Ingesting a snapshot: one transaction that writes what differs from the line's latest state, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from abistore.errors import UsageError, VersionTaken
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.snapshot import Snapshot
from abistore.model.versions import sort_key
from abistore.store import cards
from abistore.store.audit import now, record, stamp
from abistore.store.database import Database
from abistore.store.entries import Content, changes_of, write_entries
from abistore.store.locations import pack

RESERVED = frozenset({"latest", "prev", "baseline"})


@dataclass(frozen=True, slots=True)
class _Arrival:
    """What is being ingested: the snapshot, what the caller says of it, and its rows to be."""

    snapshot: Snapshot
    request: IngestRequest
    content: Content


def ingest(database: Database, snapshot: Snapshot, request: IngestRequest) -> IngestOutcome:
    """Remember ``snapshot`` as a release; a no-op where the release is stored with this content.

    Raises :class:`VersionTaken` where another binary has the version and the request does not replace it,
    :class:`UsageError` for a version or library name that no reference could name.
    """
    key = LineKey(request.library or snapshot.library, str(snapshot.target), request.profile)
    _check_labels(key, request.version)
    content = Content.of(snapshot)
    with database.transaction():
        line = _line(database, key, request.version)
        current = _current(database, line, request.version)
        if current is not None:
            same_file = current.provenance.sha256 == snapshot.provenance.sha256
            if current.digest == content.digest.hex() and (same_file or not request.replace):
                return IngestOutcome(current, known=True, replaced=False, entries_written=0, shapes_written=0)
            if not request.replace:
                _refuse(current, same_file)
            _supersede(database, line, current)
        release, outcome = _write(database, line, _Arrival(snapshot, request, content))
        _record(database, release, current, request.actor)
        return IngestOutcome(release, False, current is not None, *outcome)


def _write(database: Database, line: int, arrival: _Arrival) -> tuple[Release, tuple[int, int]]:
    """Append the snapshot to its line: its release, and the numbers of entries and of shapes written."""
    content, locations = arrival.content, arrival.snapshot.locations
    sequence = int(
        database.rows("SELECT coalesce(max(sequence), 0) + 1 FROM snapshot WHERE line_id = ?", (line,))[0][0]
    )
    changes = changes_of(database, line, content)
    shapes_written = write_entries(database, line, sequence, content, changes)
    identifier = _write_card(database, line, sequence, arrival)
    if locations:
        statement = "INSERT INTO location (snapshot_id, body) VALUES (?, ?)"
        database.run(statement, (identifier, pack(locations, changes.names)))
    release = cards.find(database, "snapshot.id = ?", (identifier,))[0]
    return release, (len(changes.begin) + len(changes.end), shapes_written)


def _check_labels(key: LineKey, version: str) -> None:
    if not version or version != version.strip() or not version.isprintable():
        raise UsageError(f"not a version: {version!r}", "give a label such as 1.2.0")
    if version.partition(":")[0] in RESERVED:
        raise UsageError(f"{version} is a reserved word", "give a label such as 1.2.0")
    for word in (key.library, key.profile):
        if not word or "@" in word or word != word.strip() or not word.isprintable():
            raise UsageError(f"not a name for a library or profile: {word!r}", "use letters, digits, and any of .+-_")


def _refuse(current: Release, same_file: bool) -> NoReturn:
    label = f"{current.line.library}@{current.version}"
    if same_file and current.provenance.sha256:
        message = f"{label}: this file is stored, and more or less was read from it then"
        raise VersionTaken(message, "pass --replace to store what is read now; the old reading stays in the audit")
    origin = f"{current.provenance.file or 'unnamed'}, sha256 {current.provenance.sha256[:12] or 'unknown'}"
    message = f"{label}: another binary is stored under this version ({origin}, {current.line.target})"
    raise VersionTaken(message, "give another --version, or pass --replace; the old one stays in the audit")


def _line(database: Database, key: LineKey, version: str) -> int:
    """The line's id, created where it is new; locked against other writers until the transaction ends."""
    database.run("INSERT INTO library (name, scheme) VALUES (?, 'auto') ON CONFLICT DO NOTHING", (key.library,))
    library, scheme = database.rows("SELECT id, scheme FROM library WHERE name = ?", (key.library,))[0]
    if scheme != "auto":
        sort_key(version, scheme)
    statement = "INSERT INTO line (library_id, target, profile) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    database.run(statement, (library, key.target, key.profile))
    lock = "" if database.is_sqlite else " FOR UPDATE"
    statement = f"SELECT id FROM line WHERE library_id = ? AND target = ? AND profile = ?{lock}"
    return int(database.rows(statement, (library, key.target, key.profile))[0][0])


def _current(database: Database, line: int, version: str) -> Release | None:
    condition = "snapshot.line_id = ? AND snapshot.version = ? AND snapshot.superseded = 0"
    return next(iter(cards.find(database, condition, (line, version))), None)


def _supersede(database: Database, line: int, current: Release) -> None:
    statement = "UPDATE snapshot SET superseded = 1 WHERE line_id = ? AND sequence = ?"
    database.run(statement, (line, current.sequence))


def _write_card(database: Database, line: int, sequence: int, arrival: _Arrival) -> int:
    snapshot, request, content = arrival.snapshot, arrival.request, arrival.content
    columns = {
        "line_id": line,
        "sequence": sequence,
        "version": request.version,
        "superseded": 0,
        "digest": content.digest,
        "sha256": snapshot.provenance.sha256,
        "build_id": snapshot.provenance.build_id,
        "soname": cards.soname(snapshot),
        "exports": cards.exports(snapshot),
        "declarations": cards.declarations(snapshot),
        "facets": cards.encode(content.counts).decode(),
        "target": cards.encode(snapshot.target).decode(),
        "provenance": cards.encode(snapshot.provenance).decode(),
        "evidence": cards.encode(snapshot.evidence).decode(),
        "revision": request.revision,
        "url": request.url,
        "ingested": now(),
        "released": stamp(request.released) if request.released else None,
    }
    places = ", ".join("?" * len(columns))
    return database.insert(f"INSERT INTO snapshot ({', '.join(columns)}) VALUES ({places})", tuple(columns.values()))


def _record(database: Database, release: Release, replaced: Release | None, actor: str) -> None:
    subject = f"{release.line.library}@{release.version} ({release.line.target}, {release.line.profile})"
    detail = f"digest {release.digest} sha256 {release.provenance.sha256 or '-'} sequence {release.sequence}"
    if replaced is None:
        record(database, actor, "ingest", subject, detail)
        return
    before = f"digest {replaced.digest} sha256 {replaced.provenance.sha256 or '-'} sequence {replaced.sequence}"
    record(database, actor, "replace", subject, f"{detail}; was {before}")
