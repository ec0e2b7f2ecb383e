"""Which entries a snapshot begins and ends in its line, and writing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, insert, select, update

from abistore.model.digest import digest, encode, name_digest, snapshot_digest
from abistore.model.names import FACETS, Facet, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot
from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database, Row
from abistore.store.database.on_conflict import insert_new
from abistore.store.database.tables import OPEN
from abistore.store.releases import cards
from abistore.store.snapshots import calling

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
    .values(last_seq=bindparam("last"))
)
_BEGIN = insert(tables.entry)
_ADD_TO_SUM = (
    update(tables.name).where(_NAME.id == bindparam("of_name")).values(entries=_NAME.entries + bindparam("difference"))
)
_NAMES = select(_NAME.digest, _NAME.id).where(_NAME.digest.in_(AMONG))
_SHAPES = select(_SHAPE.digest, _SHAPE.id).where(_SHAPE.digest.in_(AMONG))
_NEW_NAMES = insert_new(tables.name).returning(_NAME.digest, _NAME.id)
_NEW_SHAPES = insert_new(tables.shape).returning(_SHAPE.digest, _SHAPE.id)


@dataclass(slots=True)
class SnapshotRows:
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
    bodies: dict[bytes, bytes]
    """The canonical encoding of every shape, by its digest."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> SnapshotRows:
        """Encode and digest every shape of ``snapshot``."""
        counts = {facet: len(snapshot.entries[facet]) for facet in FACETS if facet in snapshot.entries}
        held = [
            FACETS.index(facet)
            for facet, count in counts.items()
            if cards.speaks(count, cards.evidence_state(snapshot.evidence, facet) == "full")
        ]
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
        return cls(whole, counts, frozenset(held), located, members, _sum(members), bodies)


def _sum(members: Iterable[Member]) -> int:
    names: dict[Name, int] = {}
    total = 0
    for facet, name, shape in members:
        known = names.get(name)
        if known is None:
            known = names[name] = seals.key(name_digest(name.kind, name.spelling))
        total += seals.member(facet, known, seals.key(shape))
    return total


class EndingEntry(NamedTuple):
    """An entry that held until now: its key without its line, the digest of its shape, and since when it held."""

    facet: int
    name_id: int
    shape_id: int
    shape: bytes
    first: int


@dataclass(frozen=True, slots=True)
class EntryChanges:
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
    new = name_ids(database, [name for name in mentioned if name not in changes.names])
    changes.names.update(new)
    calling.write(database, new, _described(content, changes))
    shapes, shapes_written = shape_ids(database, {key for _, _, key in changes.begin}, content.bodies)
    begun = sorted((facet, changes.names[name], shapes[key]) for facet, name, key in changes.begin)
    common = {"line_id": line, "last_seq": OPEN, "first_seq": sequence}
    database.many(_BEGIN, [{**common, "facet": one[0], "name_id": one[1], "shape_id": one[2]} for one in begun])
    sums = _differences(line, sequence, changes)
    # in one order in every process, and late: names are shared by all lines
    database.many(_ADD_TO_SUM, [{"of_name": name, "difference": sums[name]} for name in sorted(sums)])
    return shapes_written


def _described(content: SnapshotRows, changes: EntryChanges) -> Iterator[tuple[Name, int, bytes]]:
    """The functions and variables that get another shape where such have a name in the source."""
    for facet, name, key in changes.begin:
        if FACETS[facet] != "symbol" and name.kind in {"function", "variable"}:
            yield name, changes.names[name], content.bodies[key]


def _differences(line: int, sequence: int, changes: EntryChanges) -> dict[int, int]:
    """What the changes add to the sum of each name, by its id."""
    sums: dict[int, int] = {}
    for facet, name, shape in changes.begin:
        name_id = changes.names[name]
        sums[name_id] = sums.get(name_id, 0) + seals.entry(line, facet, seals.key(shape), sequence, OPEN)
    for facet, name_id, _, shape, first in changes.end:
        place = (line, facet, seals.key(shape), first)
        sums[name_id] = sums.get(name_id, 0) + seals.entry(*place, sequence - 1) - seals.entry(*place, OPEN)
    return sums


def name_ids(database: Database, names: Iterable[Name]) -> dict[Name, int]:
    """The ids of names, each written where it is new."""
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    digests = {name: name_digest(name.kind, name.spelling) for name in sorted(names)}
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
