"""Which entries a snapshot begins and ends in its line, and writing them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from abistore.model.digest import digest, encode, snapshot_digest
from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Snapshot
from abistore.store import cards
from abistore.store.database import Database

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
    located: frozenset[Name]
    """The names that have a source location, and need an id for it."""
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
        content = cls(snapshot_digest(snapshot), counts, frozenset(held), frozenset(snapshot.locations))
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


def changes_of(database: Database, line: int, content: Content) -> Changes:
    """The difference between the line's entries that hold now and ``content``."""
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


def write_entries(database: Database, line: int, sequence: int, content: Content, changes: Changes) -> int:
    """Write the changes and complete ``changes.names``; the number of shapes that are new to the store."""
    entry = "line_id = ? AND last_seq = ? AND facet = ? AND name_id = ? AND shape_id = ?"
    ending = f"UPDATE entry SET last_seq = ? WHERE {entry}"
    database.many(ending, [(sequence - 1, line, OPEN, *key) for key in changes.end])
    mentioned = {name for _, name, _ in changes.begin} | content.located
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
