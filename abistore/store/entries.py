"""Which entries a snapshot begins and ends in its line, and writing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from abistore.model.digest import digest, encode, snapshot_digest
from abistore.model.names import FACETS, Facet, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot
from abistore.store import cards
from abistore.store.database import Database, Row

Member = tuple[int, Name, bytes]
"""One shape of one name: facet, name, digest of the shape."""

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
        return cls(whole, counts, frozenset(held), dict.fromkeys(snapshot.locations), members, bodies)


@dataclass(frozen=True, slots=True)
class Changes:
    """What an ingest has to write: entries that begin, entries that end, and the name ids met on the way."""

    begin: list[Member]
    end: list[tuple[int, int, int]]
    names: dict[Name, int]


def changes_of(database: Database, line: int, content: Content) -> Changes:
    """The difference between the line's entries that hold now and ``content``."""
    statement = (
        "SELECT entry.facet, name.kind, name.spelling, shape.digest, entry.name_id, entry.shape_id FROM entry "
        "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id "
        "WHERE entry.line_id = ? AND entry.last_seq = ?"
    )
    held: set[Member] = set()
    end: list[tuple[int, int, int]] = []
    names: dict[Name, int] = {}
    for facet, kind, spelling, key, name_id, shape_id in database.rows(statement, (line, OPEN)):
        name = Name(kind, spelling)
        names[name] = name_id
        member = (facet, name, key)
        if member in content.members:
            held.add(member)
        elif facet in content.held:
            end.append((facet, name_id, shape_id))
    return Changes([member for member in content.members if member not in held], sorted(end), names)


def write_entries(database: Database, line: int, sequence: int, content: Content, changes: Changes) -> int:
    """Write the changes and complete ``changes.names``; the number of shapes that are new to the store."""
    entry = "line_id = ? AND last_seq = ? AND facet = ? AND name_id = ? AND shape_id = ?"
    ending = f"UPDATE entry SET last_seq = ? WHERE {entry}"
    database.many(ending, [(sequence - 1, line, OPEN, *key) for key in changes.end])
    mentioned = dict.fromkeys([name for _, name, _ in changes.begin]) | content.located
    changes.names.update(_name_ids(database, [name for name in mentioned if name not in changes.names]))
    shapes, shapes_written = _shape_ids(database, {key for _, _, key in changes.begin}, content)
    beginning = "INSERT INTO entry (line_id, last_seq, facet, name_id, shape_id, first_seq) VALUES (?, ?, ?, ?, ?, ?)"
    rows = [(line, OPEN, facet, changes.names[name], shapes[key], sequence) for facet, name, key in changes.begin]
    database.many(beginning, sorted(rows))
    return shapes_written


def _name_ids(database: Database, names: Iterable[Name]) -> dict[Name, int]:
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    ordered = sorted(names, key=_row)
    rows = [_row(name) for name in ordered]
    columns = "kind, spelling"
    added = _added(database, "name", rows, columns=columns, identity=columns)
    if [row[1:] for row in added] == rows:  # nearly always, and asked sooner than every name is looked up
        return {name: row[0] for name, row in zip(ordered, added, strict=True)}
    found = {(kind, spelling): name_id for name_id, kind, spelling in added}
    statement = "SELECT id, spelling FROM name WHERE kind = ? AND spelling IN ({})"
    for kind in sorted({row[0] for row in rows}):
        missing = [row[1] for row in rows if row[0] == kind and row not in found]
        found.update(((kind, row[1]), row[0]) for row in database.within(statement, missing, kind))
    return {name: found[row] for name, row in zip(ordered, rows, strict=True)}


def _row(name: Name) -> tuple[str, str]:
    return name.kind, name.spelling


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
