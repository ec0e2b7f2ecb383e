"""Ingesting a snapshot: one transaction that writes what differs from the line's latest state, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from abistore.errors import UsageError, VersionTaken
from abistore.model.digest import digest, encode, snapshot_digest
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Snapshot
from abistore.model.versions import sort_key
from abistore.store import cards
from abistore.store.audit import now, record, stamp
from abistore.store.database import Database
from abistore.store.locations import pack

Member = tuple[int, Name, bytes]
"""One shape of one name: facet, name, digest of the shape."""

OPEN = 2**31 - 1
"""``last_seq`` of an entry that held in the line's latest snapshot of its facet."""

RESERVED = frozenset({"latest", "prev", "baseline"})


@dataclass(slots=True)
class Content:
    """A snapshot's entries as rows to be."""

    digest: bytes
    counts: dict[Facet, int]
    held: frozenset[int]
    """The facets that say something about the history of their entries, by their place in ``FACETS``."""
    members: set[Member] = field(default_factory=set)
    bodies: dict[bytes, str] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> Content:
        """Encode and digest every shape of ``snapshot``."""
        counts = {facet: len(snapshot.entries[facet]) for facet in FACETS if facet in snapshot.entries}
        held = {
            FACETS.index(facet)
            for facet, count in counts.items()
            if cards.speaks(count, cards.evidence_state(snapshot.evidence, facet) == "full")
        }
        content = cls(snapshot_digest(snapshot), counts, frozenset(held))
        for facet in held:
            for name, variants in snapshot.entries[FACETS[facet]].items():
                for shape in variants:
                    body = encode(shape)
                    key = digest(body)
                    content.bodies[key] = body.decode()
                    content.members.add((facet, name, key))
        return content


@dataclass(frozen=True, slots=True)
class Changes:
    """What an ingest has to write: entries that begin, entries that end, and the name ids met on the way."""

    begin: list[Member]
    end: list[tuple[int, int, int]]
    names: dict[Name, int]


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
        return _write(database, line, snapshot, request, content, current)


def _write(
    database: Database,
    line: int,
    snapshot: Snapshot,
    request: IngestRequest,
    content: Content,
    current: Release | None,
) -> IngestOutcome:
    sequence = int(
        database.rows("SELECT coalesce(max(sequence), 0) + 1 FROM snapshot WHERE line_id = ?", (line,))[0][0]
    )
    changes = _changes(database, line, content)
    shapes_written = _write_entries(database, line, sequence, content, changes, snapshot)
    if current is not None:
        _supersede(database, line, current)
    identifier = _write_card(database, line, sequence, snapshot, request, content)
    if snapshot.locations:
        body = pack(snapshot.locations, changes.names)
        database.run("INSERT INTO location (snapshot_id, body) VALUES (?, ?)", (identifier, body))
    release = cards.find(database, "snapshot.id = ?", (identifier,))[0]
    _record(database, release, current, request.actor)
    written = len(changes.begin) + len(changes.end)
    return IngestOutcome(release, False, current is not None, written, shapes_written)


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


def _changes(database: Database, line: int, content: Content) -> Changes:
    statement = (
        "SELECT entry.facet, name.kind, name.spelling, shape.digest, entry.name_id, entry.shape_id FROM entry "
        "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id "
        "WHERE entry.line_id = ? AND entry.last_seq = ?"
    )
    begin = set(content.members)
    end: list[tuple[int, int, int]] = []
    names: dict[Name, int] = {}
    for facet, kind, spelling, key, name_id, shape_id in database.rows(statement, (line, OPEN)):
        name = Name(kind, spelling)
        names[name] = name_id
        member = (facet, name, key)
        if member in begin:
            begin.remove(member)
        elif facet in content.held:
            end.append((facet, name_id, shape_id))
    return Changes(sorted(begin), sorted(end), names)


def _write_entries(
    database: Database, line: int, sequence: int, content: Content, changes: Changes, snapshot: Snapshot
) -> int:
    """Write the changes and complete ``changes.names``; the number of shapes that are new to the store."""
    entry = "line_id = ? AND last_seq = ? AND facet = ? AND name_id = ? AND shape_id = ?"
    ending = f"UPDATE entry SET last_seq = ? WHERE {entry}"
    database.many(ending, [(sequence - 1, line, OPEN, *key) for key in changes.end])
    mentioned = {name for _, name, _ in changes.begin} | snapshot.locations.keys()
    changes.names.update(_name_ids(database, mentioned - changes.names.keys()))
    shapes, shapes_written = _shape_ids(database, {key for _, _, key in changes.begin}, content)
    beginning = "INSERT INTO entry (line_id, last_seq, facet, name_id, shape_id, first_seq) VALUES (?, ?, ?, ?, ?, ?)"
    rows = [(line, OPEN, facet, changes.names[name], shapes[key], sequence) for facet, name, key in changes.begin]
    database.many(beginning, sorted(rows))
    return shapes_written


def _name_ids(database: Database, names: Iterable[Name]) -> dict[Name, int]:
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    ordered = sorted(names)
    rows = [(name.kind, name.spelling) for name in ordered]
    database.many("INSERT INTO name (kind, spelling) VALUES (?, ?) ON CONFLICT DO NOTHING", rows)
    found: dict[Name, int] = {}
    for kind in sorted({name.kind for name in ordered}):
        spellings = [name.spelling for name in ordered if name.kind == kind]
        statement = "SELECT id, spelling FROM name WHERE kind = ? AND spelling IN ({})"
        found.update((Name(kind, row[1]), row[0]) for row in database.within(statement, spellings, kind))
    return found


def _shape_ids(database: Database, keys: set[bytes], content: Content) -> tuple[dict[bytes, int], int]:
    select = "SELECT digest, id FROM shape WHERE digest IN ({})"
    ordered = sorted(keys)
    found = {row[0]: row[1] for row in database.within(select, ordered)}
    missing = [key for key in ordered if key not in found]
    insert = "INSERT INTO shape (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING"
    database.many(insert, [(key, content.bodies[key]) for key in missing])
    found.update((row[0], row[1]) for row in database.within(select, missing))
    return found, len(missing)


def _supersede(database: Database, line: int, current: Release) -> None:
    statement = "UPDATE snapshot SET superseded = 1 WHERE line_id = ? AND sequence = ?"
    database.run(statement, (line, current.sequence))


def _write_card(
    database: Database, line: int, sequence: int, snapshot: Snapshot, request: IngestRequest, content: Content
) -> int:
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
