"""Which entries a snapshot begins and ends in its line, and writing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from abistore.model.digest import digest, encode, name_digest, snapshot_digest
from abistore.model.names import FACETS, Facet, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot
from abistore.store.database import seals
from abistore.store.database.database import Database, Row
from abistore.store.releases import cards
from abistore.store.snapshots import calling

Member = tuple[int, Name, bytes]
"""One shape of one name: facet, name, digest of the shape."""

_NAMES = "SELECT digest, id FROM name WHERE digest IN ({})"

OPEN = 2**31 - 1
"""``last_seq`` of an entry that held in the line's latest snapshot of its facet."""


@dataclass(slots=True)
class Content:
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
    def of(cls, snapshot: Snapshot) -> Content:
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


class Ending(NamedTuple):
    """An entry that held until now: its key without its line, the digest of its shape, and since when it held."""

    facet: int
    name_id: int
    shape_id: int
    shape: bytes
    first: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What an ingest has to write: entries that begin, entries that end, and the name ids met on the way."""

    begin: list[Member]
    end: list[Ending]
    names: dict[Name, int]


def changes_of(database: Database, line: int, content: Content) -> Changes:
    """The difference between the line's entries that hold now and ``content``."""
    statement = (
        "SELECT entry.facet, name.kind, name.spelling, shape.digest, entry.name_id, entry.shape_id, entry.first_seq "
        "FROM entry "
        "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id "
        "WHERE entry.line_id = ? AND entry.last_seq = ?"
    )
    held: set[Member] = set()
    end: list[Ending] = []
    names: dict[Name, int] = {}
    for facet, kind, spelling, key, name_id, shape_id, first in database.rows(statement, (line, OPEN)):
        name = Name(kind, spelling)
        names[name] = name_id
        member = (facet, name, key)
        if member in content.members:
            held.add(member)
        elif facet in content.held:
            end.append(Ending(facet, name_id, shape_id, key, first))
    return Changes([member for member in content.members if member not in held], sorted(end), names)


def write_entries(database: Database, line: int, sequence: int, content: Content, changes: Changes) -> int:
    """Write the changes and complete ``changes.names``; the number of shapes that are new to the store."""
    entry = "line_id = ? AND last_seq = ? AND facet = ? AND name_id = ? AND shape_id = ?"
    ending = f"UPDATE entry SET last_seq = ? WHERE {entry}"
    database.many(ending, [(sequence - 1, line, OPEN, *ended[:3]) for ended in changes.end])
    mentioned = dict.fromkeys([name for _, name, _ in changes.begin]) | content.located
    new = _name_ids(database, [name for name in mentioned if name not in changes.names])
    changes.names.update(new)
    calling.write(database, new, _described(content, changes))
    shapes, shapes_written = _shape_ids(database, {key for _, _, key in changes.begin}, content)
    beginning = "INSERT INTO entry (line_id, last_seq, facet, name_id, shape_id, first_seq) VALUES (?, ?, ?, ?, ?, ?)"
    rows = [(line, OPEN, facet, changes.names[name], shapes[key], sequence) for facet, name, key in changes.begin]
    database.many(beginning, sorted(rows))
    sums = _differences(line, sequence, changes)
    # in one order in every process, and late: names are shared by all lines
    database.many("UPDATE name SET entries = entries + ? WHERE id = ?", [(sums[name], name) for name in sorted(sums)])
    return shapes_written


def _described(content: Content, changes: Changes) -> Iterator[tuple[Name, int, bytes]]:
    """The functions and variables that get another shape where such have a name in the source."""
    for facet, name, key in changes.begin:
        if FACETS[facet] != "symbol" and name.kind in {"function", "variable"}:
            yield name, changes.names[name], content.bodies[key]


def _differences(line: int, sequence: int, changes: Changes) -> dict[int, int]:
    """What the changes add to the sum of each name, by its id."""
    sums: dict[int, int] = {}
    for facet, name, shape in changes.begin:
        name_id = changes.names[name]
        sums[name_id] = sums.get(name_id, 0) + seals.entry(line, facet, seals.key(shape), sequence, OPEN)
    for facet, name_id, _, shape, first in changes.end:
        place = (line, facet, seals.key(shape), first)
        sums[name_id] = sums.get(name_id, 0) + seals.entry(*place, sequence - 1) - seals.entry(*place, OPEN)
    return sums


def _name_ids(database: Database, names: Iterable[Name]) -> dict[Name, int]:
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    digests = {name: name_digest(name.kind, name.spelling) for name in sorted(names)}
    rows = [(name.kind, name.spelling, key, 0) for name, key in digests.items()]
    added = _added(database, "name", rows, columns="kind, spelling, digest, entries", identity="digest")
    found = {key: name_id for name_id, key in added}
    missing = [key for key in digests.values() if key not in found]
    found.update((key, name_id) for key, name_id in database.within(_NAMES, missing))
    return {name: found[key] for name, key in digests.items()}


def _shape_ids(database: Database, keys: set[bytes], content: Content) -> tuple[dict[bytes, int], int]:
    ordered = sorted(keys)
    found = _known_shapes(database, ordered)
    missing = [(key, content.bodies[key].decode()) for key in ordered if key not in found]
    found.update(
        (key, shape_id)
        for shape_id, key in _added(database, "shape", missing, columns="digest, body", identity="digest")
    )
    found.update(_known_shapes(database, [key for key, _ in missing if key not in found]))
    return found, len(missing)


def _known_shapes(database: Database, keys: Sequence[bytes]) -> dict[bytes, int]:
    select = "SELECT digest, id FROM shape WHERE digest IN ({})"
    return {row[0]: row[1] for row in database.within(select, keys)}


def _added(
    database: Database, table: str, rows: list[tuple[Any, ...]], *, columns: str, identity: str
) -> Sequence[Row]:
    """Insert the rows that are new by their ``identity``; the id and the identity of each, and perhaps of others."""
    if not rows:
        return ()
    ((last,),) = database.rows(f"SELECT coalesce(max(id), 0) FROM {table}")
    places = ", ".join("?" * len(rows[0]))
    database.many(f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING", rows)
    # ids grow: this reads what was added, in one pass and without a list of what to look for
    return database.rows(f"SELECT id, {identity} FROM {table} WHERE id > ? ORDER BY id", (last,))
