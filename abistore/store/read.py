"""Loading releases: their entries from the temporal rows, every shape decoded once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from abistore.errors import SnapshotNotFound, StoreError
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.digest import sort_variants
from abistore.model.history import Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Location, Snapshot, Variants
from abistore.store import cards
from abistore.store.database import Database, Row
from abistore.store.locations import unpack

decode = msgspec.json.Decoder(AnyShape).decode
"""A shape of its canonical JSON."""

Table = dict[Name, list[AnyShape]]

_MOST_SPANS = 100
"""How many conditions one statement joins; databases limit the depth of an expression."""


@dataclass(slots=True)
class Memory:
    """What a store has decoded so far: names and shapes by their row's id, shared by all snapshots that it loads."""

    names: dict[int, Name] = field(default_factory=dict)
    shapes: dict[int, AnyShape] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Card:
    identifier: int
    line: int
    counts: dict[Facet, int]


def load_many(database: Database, releases: Sequence[Release], memory: Memory) -> tuple[Snapshot, ...]:
    """The snapshots of ``releases``, as they were ingested, under the release's library and version.

    Raises :class:`SnapshotNotFound` where one is not in this store, :class:`StoreError` where it is damaged.
    """
    try:
        return _load_many(database, releases, memory)
    except (msgspec.MsgspecError, zlib.error) as error:
        message = f"{database.where}: a stored snapshot is damaged ({error})"
        raise StoreError(message, "`abistore db check` tells what is wrong; restore a backup") from error


def _load_many(database: Database, releases: Sequence[Release], memory: Memory) -> tuple[Snapshot, ...]:
    cards_ = [_card(database, release) for release in releases]
    tables: dict[tuple[int, int], dict[int, Table]] = {}
    with _limits(cards_, releases), without_cycle_collection():
        for line in sorted({card.line for card in cards_}):
            pairs = zip(cards_, releases, strict=True)
            sequences = sorted({release.sequence for card, release in pairs if card.line == line})
            for sequence, table in zip(sequences, _tables(database, line, sequences, memory), strict=True):
                tables[line, sequence] = table
        return tuple(
            _snapshot(database, release, card, tables[card.line, release.sequence], memory)
            for card, release in zip(cards_, releases, strict=True)
        )


def _limits(cards_: Sequence[_Card], releases: Sequence[Release]) -> AbstractContextManager[None]:
    names = sum(sum(card.counts.values()) for card in cards_)
    labels = [f"{release.line.library}@{release.version}" for release in releases]
    return limits_for(names << 10, f"loading {' and '.join(labels[:2])}{' and others' * (len(labels) > 2)}")


def _card(database: Database, release: Release) -> _Card:
    statement = (
        f"SELECT snapshot.id, snapshot.line_id, snapshot.facets FROM {cards.SOURCES} "
        "WHERE library.name = ? AND line.target = ? AND line.profile = ? AND snapshot.sequence = ?"
    )
    line = release.line
    rows = database.rows(statement, (line.library, line.target, line.profile, release.sequence))
    if not rows:
        raise SnapshotNotFound(f"{line.library}@{release.version}: not in {database.where}")
    identifier, line_id, facets = rows[0]
    return _Card(identifier, line_id, cards.facet_counts(facets))


def _tables(database: Database, line: int, sequences: Sequence[int], memory: Memory) -> list[dict[int, Table]]:
    """For each of ``sequences``, by facet: the shapes of each name. One pass over the rows of all of them."""
    tables: list[dict[int, Table]] = [{code: {} for code in range(len(FACETS))} for _ in sequences]
    numbered = list(zip(sequences, tables, strict=True))
    for facet, name_id, shape_id, first, last, kind, spelling, body in _rows(database, line, sequences):
        name = memory.names.get(name_id)
        if name is None:
            name = memory.names[name_id] = Name(kind, spelling)
        shape = memory.shapes.get(shape_id)
        if shape is None:
            shape = memory.shapes[shape_id] = decode(body)
        for sequence, table in numbered:
            if first <= sequence <= last:
                table[facet].setdefault(name, []).append(shape)
    return tables


def _rows(database: Database, line: int, sequences: Sequence[int]) -> Iterable[Row]:
    """The entries that held in one of ``sequences``, which are sorted; of many, all between the first and the last."""
    spans = [(sequence, sequence) for sequence in sequences]
    if len(spans) > _MOST_SPANS:
        spans = [(sequences[0], sequences[-1])]
    holds = " OR ".join("(entry.last_seq >= ? AND entry.first_seq <= ?)" for _ in spans)
    statement = (
        "SELECT entry.facet, entry.name_id, entry.shape_id, entry.first_seq, entry.last_seq, "
        "name.kind, name.spelling, shape.body FROM entry "
        "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id "
        f"WHERE entry.line_id = ? AND entry.last_seq >= ? AND ({holds})"
    )
    return database.rows(statement, (line, sequences[0], *chain.from_iterable(spans)))


def _snapshot(database: Database, release: Release, card: _Card, tables: dict[int, Table], memory: Memory) -> Snapshot:
    entries: dict[Facet, dict[Name, Variants]] = {}
    for code, facet in enumerate(FACETS):
        if facet in card.counts:
            # an empty facet may stand beside rows that wait for the next snapshot that sees more
            table = tables[code] if card.counts[facet] else {}
            entries[facet] = {name: _variants(shapes) for name, shapes in table.items()}
    return Snapshot(
        library=release.line.library,
        version=release.version,
        target=release.target,
        entries=entries,
        evidence=release.evidence,
        provenance=release.provenance,
        locations=_locations(database, card, memory),
    )


def _variants(shapes: list[AnyShape]) -> Variants:
    return (shapes[0],) if len(shapes) == 1 else sort_variants(shapes)


def _locations(database: Database, card: _Card, memory: Memory) -> dict[Name, Location]:
    rows = database.rows("SELECT body FROM location WHERE snapshot_id = ?", (card.identifier,))
    if not rows:
        return {}
    places = unpack(rows[0][0])
    unmet = sorted(places.keys() - memory.names.keys())
    for identifier, kind, spelling in database.within("SELECT id, kind, spelling FROM name WHERE id IN ({})", unmet):
        memory.names[identifier] = Name(kind, spelling)
    return {memory.names[identifier]: location for identifier, location in places.items()}
