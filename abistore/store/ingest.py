"""Ingesting a snapshot: one transaction that writes what differs from the latest state of its line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import msgspec
from sqlalchemy import and_, bindparam, func, insert, select, update

from abistore.errors import UsageError, VersionTaken
from abistore.model.declarations import FACETS, Facet, Name, by_name
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.labels import AUTO
from abistore.model.packing import PackedEntries
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot, digest, encode, name_digest, snapshot_digest
from abistore.model.versions import check_name, check_version, spellings_of
from abistore.store import names as calling
from abistore.store import order, releases, tables
from abistore.store.database import AMONG, Database, Row, insert_new, now, record, stamp
from abistore.store.order import hold
from abistore.store.releases import scheme
from abistore.store.snapshots import pack
from abistore.store.tables import OPEN

Member = tuple[int, Name, bytes]
"""One shape of one name: facet, name, digest of the shape."""

_ENTRY, _NAME, _SHAPE = tables.entry.c, tables.name.c, tables.shape.c

_HELD = (
    select(_ENTRY.facet, _NAME.kind, _NAME.spelling, _SHAPE.digest, _ENTRY.name_id, _ENTRY.shape_id, _ENTRY.first_seq)
    .select_from(tables.entry.join(tables.name).join(tables.shape))
    .where(_ENTRY.line_id == bindparam("line"), _ENTRY.last_seq == OPEN)
)
_END = (
    update(tables.entry)
    .where(
        _ENTRY.line_id == bindparam("of_line"),
        _ENTRY.last_seq == OPEN,
        _ENTRY.facet == bindparam("of_facet"),
        _ENTRY.name_id == bindparam("of_name"),
        _ENTRY.shape_id == bindparam("of_shape"),
    )
    .values(last_seq=bindparam("last", type_=_ENTRY.last_seq.type))
)
_BEGIN = insert(tables.entry)
_ADD_TO_SUM = (
    update(tables.name).where(_NAME.id == bindparam("of_name")).values(entries=_NAME.entries + bindparam("difference"))
)
_NAMES = select(_NAME.digest, _NAME.id).where(_NAME.digest.in_(AMONG))
_SHAPES = select(_SHAPE.digest, _SHAPE.id).where(_SHAPE.digest.in_(AMONG))
_NEW_NAMES = insert_new(tables.name).returning(_NAME.digest, _NAME.id)
_NEW_SHAPES = insert_new(tables.shape).returning(_SHAPE.digest, _SHAPE.id)


class SnapshotRows(msgspec.Struct):
    """A snapshot's entries as rows to be."""

    digest: bytes
    counts: dict[Facet, int]
    held: frozenset[int]
    """The facets that say something about the history of their entries, by their place in ``FACETS``."""
    located: dict[Name, None]
    """The names that have a source location, and need an id for it; a set in the snapshot's order."""
    members: dict[Member, None]
    """A set, sorted."""
    sum: int
    """The sum of the members' checksums."""
    bodies: Mapping[bytes, bytes]
    """The canonical encoding of every shape, by its digest."""
    names: Mapping[Name, bytes]
    """The digests of the names."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> SnapshotRows:
        """Encode and digest every shape of ``snapshot``, unless another process did."""
        counts = {facet: len(snapshot.entries[facet]) for facet in FACETS if facet in snapshot.entries}
        held = [
            FACETS.index(facet)
            for facet, count in counts.items()
            if releases.speaks(count, releases.evidence_state(snapshot.evidence, facet) == "full")
        ]
        if isinstance(snapshot.entries, PackedEntries):
            return cls._packed(snapshot, snapshot.entries, counts, held)
        keys: dict[int, bytes] = {}
        bodies: dict[bytes, bytes] = {}

        def canonical(shape: AnyShape) -> bytes:
            """Encode and digest ``shape``, once however many names share it."""
            key = keys.get(id(shape))
            if key is None:
                body = encode(shape)
                key = keys[id(shape)] = digest(body)
                bodies[key] = body
            return bodies[key]

        whole = snapshot_digest(snapshot, canonical)
        members = {
            (facet, name, key): None
            for facet in held
            for name, variants in sorted(snapshot.entries[FACETS[facet]].items(), key=by_name)
            for key in sorted([keys[id(shape)] for shape in variants])
        }
        located = dict.fromkeys(snapshot.locations)
        names = {name: name_digest(name.kind, name.spelling) for name in dict.fromkeys(name for _, name, _ in members)}
        return cls(whole, counts, frozenset(held), located, members, _sum(members, names), bodies, names)

    @classmethod
    def _packed(
        cls, snapshot: Snapshot, entries: PackedEntries, counts: dict[Facet, int], held: Sequence[int]
    ) -> SnapshotRows:
        keys = entries.shape_digests
        members = {
            (facet, name, key): None
            for facet in held
            for name, numbers in entries[FACETS[facet]].numbers.items()
            for key in ((keys[numbers[0]],) if len(numbers) == 1 else sorted([keys[number] for number in numbers]))
        }
        located, total = dict.fromkeys(snapshot.locations), _sum(members, entries.names)
        return cls(entries.digest, counts, frozenset(held), located, members, total, entries.bodies, entries.names)


def _sum(members: Iterable[Member], names: Mapping[Name, bytes]) -> int:
    keys = {name: tables.key(known) for name, known in names.items()}
    return sum([tables.member(facet, keys[name], tables.key(shape)) for facet, name, shape in members])


class EndingEntry(NamedTuple):
    """An entry that held until now: its key without its line, the digest of its shape, and since when it held."""

    facet: int
    name_id: int
    shape_id: int
    shape: bytes
    first: int


class EntryChanges(msgspec.Struct, frozen=True):
    """What an ingest has to write: entries that begin, entries that end, and the name ids met on the way."""

    begin: list[Member]
    end: list[EndingEntry]
    names: dict[Name, int]


def changes_of(database: Database, line: int, content: SnapshotRows) -> EntryChanges:
    """The difference between the line's entries that hold now and ``content``."""
    held: set[Member] = set()
    end: list[EndingEntry] = []
    names: dict[Name, int] = {}
    for facet, kind, spelling, key, name_id, shape_id, first in database.rows(_HELD, {"line": line}):
        name = Name(kind, spelling)
        names[name] = name_id
        member = (facet, name, key)
        if member in content.members:
            held.add(member)
        elif facet in content.held:
            end.append(EndingEntry(facet, name_id, shape_id, key, first))
    return EntryChanges([member for member in content.members if member not in held], sorted(end), names)


def write_entries(database: Database, line: int, sequence: int, content: SnapshotRows, changes: EntryChanges) -> int:
    """Write the changes and complete ``changes.names``; the number of shapes that are new to the store."""
    ended = [
        {"of_line": line, "of_facet": facet, "of_name": name, "of_shape": shape, "last": sequence - 1}
        for facet, name, shape, *_ in changes.end
    ]
    database.many(_END, ended)
    mentioned = dict.fromkeys([name for _, name, _ in changes.begin]) | content.located
    new = name_ids(database, [name for name in mentioned if name not in changes.names], content.names)
    changes.names.update(new)
    shapes, shapes_written = shape_ids(database, {key for _, _, key in changes.begin}, content.bodies)
    begun = sorted((facet, changes.names[name], shapes[key]) for facet, name, key in changes.begin)
    common = {"line_id": line, "last_seq": OPEN, "first_seq": sequence}
    database.many(_BEGIN, [{**common, "facet": one[0], "name_id": one[1], "shape_id": one[2]} for one in begun])
    sums = _differences(line, sequence, changes)
    database.hold_end()  # late: names are shared by all lines
    calling.write(database, new, _described(content, changes))
    database.many(_ADD_TO_SUM, [{"of_name": name, "difference": sums[name]} for name in sorted(sums)])
    return shapes_written


def _described(content: SnapshotRows, changes: EntryChanges) -> Iterator[tuple[Name, int, bytes]]:
    """The functions and variables that get another shape where such have a name in the source."""
    for facet, name, key in changes.begin:
        if FACETS[facet] != "symbol" and name.kind in {"function", "variable"}:
            yield name, changes.names[name], content.bodies[key]


def _differences(line: int, sequence: int, changes: EntryChanges) -> dict[int, int]:
    sums: dict[int, int] = {}
    for facet, name, shape in changes.begin:
        name_id = changes.names[name]
        sums[name_id] = sums.get(name_id, 0) + tables.entry_seal(line, facet, tables.key(shape), sequence, OPEN)
    for facet, name_id, _, shape, first in changes.end:
        place = (line, facet, tables.key(shape), first)
        sums[name_id] = sums.get(name_id, 0) + tables.entry_seal(*place, sequence - 1) - tables.entry_seal(*place, OPEN)
    return sums


def name_ids(database: Database, names: Iterable[Name], known: Mapping[Name, bytes] = {}) -> dict[Name, int]:
    """The ids of names, each written where it is new; the digests of some are ``known``."""
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    digests = {name: known.get(name) or name_digest(name.kind, name.spelling) for name in sorted(names)}
    rows = [
        {"kind": name.kind, "spelling": name.spelling, "digest": key, "entries": 0} for name, key in digests.items()
    ]
    found = _identifiers(database.returned(_NEW_NAMES, rows))
    missing = [key for key in digests.values() if key not in found]
    found |= _identifiers(database.within(_NAMES, missing))
    return {name: found[key] for name, key in digests.items()}


def shape_ids(
    database: Database, keys: Collection[bytes], bodies: Mapping[bytes, bytes]
) -> tuple[dict[bytes, int], int]:
    """The ids of shapes, by their digest, each written where it is new; how many were."""
    ordered = sorted(keys)
    found = _identifiers(database.within(_SHAPES, ordered))
    missing = [key for key in ordered if key not in found]
    rows = [{"digest": key, "body": bodies[key].decode()} for key in missing]
    found |= _identifiers(database.returned(_NEW_SHAPES, rows))
    found |= _identifiers(database.within(_SHAPES, [key for key in missing if key not in found]))
    return found, len(missing)


def _identifiers(rows: Iterable[Row]) -> dict[bytes, int]:
    return {row[0]: row[1] for row in rows}


_NEXT = select(func.coalesce(func.max(releases.SNAPSHOT.sequence), 0) + 1).where(
    releases.SNAPSHOT.line_id == bindparam("line")
)
_LOCATE = insert(tables.location)


class LabelHolder(msgspec.Struct, frozen=True):
    """What a snapshot would find under its label: the release there, and whether that is this very content."""

    current: Release | None
    known: bool


class _Arrival(msgspec.Struct, frozen=True):
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
            order.follow(database, replaced, release, actor=request.actor, reason=request.replace_baseline)
        return IngestOutcome(release, False, replaced is not None, *outcome)


def place(database: Database, snapshot: Snapshot, request: IngestRequest, digest: bytes | None = None) -> LabelHolder:
    """What is stored under the label that ``request`` gives; ``digest`` is the snapshot's where that is known.

    Raises :class:`VersionTaken` or :class:`UsageError` where that may not be replaced.
    """
    key = line_of(snapshot, request)
    current = releases.labelled(database, releases.RELEASES, key, spellings_of(request.version))
    if current is None:
        return LabelHolder(None, False)
    same_file = _is_same_file(current, snapshot)
    same_content = current.digest == (digest or snapshot_digest(snapshot)).hex()
    if same_content and (same_file or not request.replace):
        return LabelHolder(current, True)
    if not request.replace:
        _refuse(current, same_file)
    channels = order.standing_at(database, current)
    if channels and not request.replace_baseline:
        hint = (
            f"give another --version, move it first (abistore db baseline set {key.library}@VERSION "
            f"--channel {channels[0]}), or pass --replace-baseline with the reason"
        )
        raise UsageError(f"{current.reference}: baseline {', '.join(channels)} points at it", hint)
    return LabelHolder(current, False)


def _write(database: Database, line: int, arrival: _Arrival) -> tuple[Release, tuple[int, int]]:
    """Append the snapshot to its line: its release, and the numbers of entries and of shapes written."""
    ((sequence,),) = database.rows(_NEXT, {"line": line})
    identifier, written = _append(database, line, sequence, arrival, {})
    return releases.find(database, releases.SNAPSHOT.id == identifier)[0], written


def _append(
    database: Database, line: int, sequence: int, arrival: _Arrival, said: Mapping[str, object]
) -> tuple[int, tuple[int, int]]:
    """Write the rows of a snapshot, in which columns are as ``said``: the card's id, and what :func:`_write` tells."""
    content, locations = arrival.content, arrival.snapshot.locations
    changes = changes_of(database, line, content)
    shapes_written = write_entries(database, line, sequence, content, changes)
    places = pack(locations, changes.names) if locations else None
    identifier = releases.insert(database, {**_card(line, sequence, arrival, places), **said})
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
        message = f"{label}: this file is stored with other contents read from it"
        raise VersionTaken(message, "pass --replace to store the new contents; the audit records the old ones")
    origin = f"{current.provenance.file or 'unnamed'}, sha256 {current.provenance.sha256[:12] or 'unknown'}"
    message = f"{label}: another binary is stored under this version ({origin}, {current.line.target})"
    raise VersionTaken(message, "pass another --version, or --replace; the audit records the old binary")


def _check_spelling(current: Release, request: IngestRequest, known: bool) -> None:
    """Raise :class:`UsageError` where a release would be replaced under another spelling of its label."""
    if not known and current.version != request.version:
        raise UsageError(
            f"{current.reference} is stored, and {request.version} is the same label", "use the same spelling"
        )


def _line(database: Database, key: LineKey, version: str) -> int:
    """The line's id, created where it is new; locked against other writers until the transaction ends."""
    line = hold(database, key)
    declared = scheme(database, key.library)
    if declared != AUTO:
        check_version(version, declared)
    return line


def _kept(database: Database, snapshot: Snapshot, request: IngestRequest, digest: bytes) -> LabelHolder:
    found = releases.labelled(database, releases.CANDIDATES, line_of(snapshot, request), (request.version,))
    return LabelHolder(found, found is not None and found.digest == digest.hex() and _is_same_file(found, snapshot))


def _is_same_file(stored: Release, snapshot: Snapshot) -> bool:
    return stored.provenance.sha256 == snapshot.provenance.sha256


def _supersede(database: Database, line: int, request: IngestRequest) -> None:
    """Make room: a candidate takes the place of one with its label, a release that of both."""
    card = releases.SNAPSHOT
    statement = select(card.id).where(card.line_id == line, card.version == request.version, card.superseded == 0)
    for (identifier,) in database.rows(statement.where(card.candidate == 1) if request.candidate else statement):
        releases.amend_card(database, identifier, {"superseded": 1})


def _confirm(database: Database, current: Release, actor: str) -> None:
    """Note that a release which came in as JSON was read from its file now, with the same content."""
    identifier = releases.identifier(database, current)
    if not releases.find(database, and_(releases.SNAPSHOT.id == identifier, releases.SNAPSHOT.read_here == 1)):
        releases.amend_card(database, identifier, {"read_here": 1})
        record(database, actor, "read", _subject(current), _identity(current))


def _card(line: int, sequence: int, arrival: _Arrival, places: bytes | None) -> dict[str, object]:
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
        "declarations": releases.declarations(snapshot),
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
        "places": None if places is None else tables.of_bytes(places),
        "tags": order.column(request.tags),
    }


def _record(database: Database, release: Release, before: Release | None, actor: str) -> None:
    detail = _identity(release) + (f"; was {_identity(before)}" if before is not None else "")
    action = "candidate" if release.candidate else "ingest" if before is None else "replace"
    record(database, actor, action, _subject(release), detail)


def _subject(release: Release) -> str:
    return f"{release.line.library}@{release.version} ({release.line.target}, {release.line.profile})"


def _identity(release: Release) -> str:
    return f"digest {release.digest} sha256 {release.provenance.sha256 or '-'} sequence {release.sequence}"
