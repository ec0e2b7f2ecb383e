"""Loading releases: their entries from the temporal rows, every shape decoded once."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, or_, select

from abistore.errors import DamagedStore
from abistore.limits import limits_for
from abistore.model.budget import weakened
from abistore.model.cycles import without_cycle_collection
from abistore.model.digest import sort_variants
from abistore.model.history import Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Evidence, Location, Snapshot, Variants
from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database, Row
from abistore.store.database.failures import damaged
from abistore.store.releases import cards
from abistore.store.snapshots.locations import unpack
from abistore.store.snapshots.memory import RowMemory, checked_name, wrong_entry

_ENTRY, _NAME, _SHAPE = tables.entry.c, tables.name.c, tables.shape.c

_ENTRIES = select(
    *(_ENTRY.facet, _ENTRY.name_id, _ENTRY.shape_id, _ENTRY.first_seq, _ENTRY.last_seq),
    *(_NAME.kind, _NAME.spelling, _SHAPE.body),
).select_from(tables.entry.join(tables.name).join(tables.shape))
PLACES = select(tables.location.c.body).where(tables.location.c.snapshot_id == bindparam("identifier"))
NAMES = select(_NAME.id, _NAME.kind, _NAME.spelling, _NAME.digest).where(_NAME.id.in_(AMONG))
_MOST_SPANS = 100
"""How many conditions one statement joins; databases limit the depth of an expression."""


@dataclass(frozen=True, slots=True)
class _Card:
    line: int
    sequence: int
    counts: dict[Facet, int]
    members: int


class _Table:
    """One snapshot's entries: by facet, the shapes of each name, and the sum of the checksums of all."""

    __slots__ = ("shapes", "sums")

    def __init__(self) -> None:
        self.shapes: list[dict[Name, list[AnyShape]]] = [{} for _ in FACETS]
        self.sums = [0 for _ in FACETS]


def load_many(database: Database, releases: Sequence[Release], memory: RowMemory) -> tuple[Snapshot, ...]:
    """The snapshots of ``releases``, as they were ingested, under the release's library and version.

    Raises :class:`SnapshotNotFound` where one is not in this store, :class:`DamagedStore` where it is damaged; the
    memory then holds nothing, as what was read last may be damaged.
    """
    try:
        return _load_many(database, releases, memory)
    except (msgspec.MsgspecError, zlib.error) as error:
        memory.forget()
        raise DamagedStore(f"{database.where}: a stored snapshot is damaged ({error})") from error
    except DamagedStore:
        memory.forget()
        raise


def _load_many(database: Database, releases: Sequence[Release], memory: RowMemory) -> tuple[Snapshot, ...]:
    cards_ = [_card(database, release) for release in releases]
    tables: dict[tuple[int, int], _Table] = {}
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
    line, columns = cards.columns_of(database, release)
    return _Card(
        line=line,
        sequence=release.sequence,
        counts=cards.facet_counts(columns["snapshot.facets"]),
        members=columns["snapshot.members"],
    )


def _tables(database: Database, line: int, sequences: Sequence[int], memory: RowMemory) -> list[_Table]:
    """The entries of each of ``sequences``. One pass over the rows of all of them."""
    tables = [_Table() for _ in sequences]
    numbered = list(zip(sequences, tables, strict=True))
    names, shapes = memory.names, memory.shapes
    try:
        for facet, name_id, shape_id, first, last, kind, spelling, body in _rows(database, line, sequences):
            name = names[name_id] if name_id in names else memory.name(name_id, kind, spelling)
            shape = shapes[shape_id] if shape_id in shapes else memory.shape(shape_id, body)
            seal = seals.member(facet, memory.name_keys[name_id], memory.shape_keys[shape_id])
            for sequence, table in numbered:
                if first <= sequence <= last:
                    table.shapes[facet].setdefault(name, []).append(shape)
                    table.sums[facet] += seal
    except (AttributeError, IndexError, TypeError) as error:  # a flipped byte makes a text of a number
        raise damaged(database.where, "an entry, a name or a shape is of another type") from error
    return tables


def _rows(database: Database, line: int, sequences: Sequence[int]) -> Iterable[Row]:
    """The entries that held in one of ``sequences``, which are sorted; of many, all between the first and the last."""
    spans = [(sequence, sequence) for sequence in sequences]
    if len(spans) > _MOST_SPANS:
        spans = [(sequences[0], sequences[-1])]
    holds = or_(*(and_(_ENTRY.last_seq >= first, _ENTRY.first_seq <= last) for first, last in spans))
    return database.rows(_ENTRIES.where(_ENTRY.line_id == line, _ENTRY.last_seq >= sequences[0], holds))


def _snapshot(database: Database, release: Release, card: _Card, table: _Table, memory: RowMemory) -> Snapshot:
    entries: dict[Facet, dict[Name, Variants]] = {}
    total = 0
    for code, facet in enumerate(FACETS):
        if facet in card.counts:
            # an empty facet may stand beside rows that wait for the next snapshot that sees more
            seen = table.shapes[code] if card.counts[facet] else {}
            total += table.sums[code] if card.counts[facet] else 0
            entries[facet] = {name: _variants(shapes) for name, shapes in seen.items()}
    if total != card.members:
        why = wrong_entry(database, card.line, card.sequence)
        raise damaged(database.where, f"{release.reference}: {why}")
    return Snapshot(
        library=release.line.library,
        version=release.version,
        target=release.target,
        entries=entries,
        evidence=tuple(_weakened(seen, entries, memory) for seen in release.evidence),
        provenance=release.provenance,
        locations=places(database, release, memory),
    )


def _weakened(seen: Evidence, entries: Mapping[Facet, Mapping[Name, Variants]], memory: RowMemory) -> Evidence:
    if not memory.refused:
        return seen
    shapes = chain.from_iterable(entries.get(seen.facet, {}).values())
    return weakened(seen, sum(memory.refused.get(id(shape), 0) for shape in shapes))


def _variants(shapes: list[AnyShape]) -> Variants:
    return (shapes[0],) if len(shapes) == 1 else sort_variants(shapes)


def places(database: Database, release: Release, memory: RowMemory) -> dict[Name, Location]:
    """Where a snapshot's declarations stand. Raises :class:`StoreError` where that is damaged."""
    body = places_body(database, release, cards.columns_of(database, release)[1])
    if body is None:
        return {}
    found = unpack(body)
    names = names_of(database, release, found, memory)
    return {names[identifier]: location for identifier, location in found.items()}


def places_body(database: Database, release: Release, columns: Mapping[str, Any]) -> bytes | None:
    """The packed locations of a release, of whose card these are the ``columns``.

    Raises :class:`StoreError` where they are damaged.
    """
    if columns["snapshot.places"] is None:
        return None
    rows = database.rows(PLACES, {"identifier": columns["snapshot.id"]})
    if not rows or seals.of_bytes(rows[0][0]) != columns["snapshot.places"]:
        raise damaged(database.where, f"{release.reference}: its locations")
    return bytes(rows[0][0])


def names_of(database: Database, release: Release, identifiers: Iterable[int], memory: RowMemory) -> Mapping[int, Name]:
    """The names of located declarations by their ids. Raises :class:`StoreError` where one is damaged or missing."""
    wanted = set(identifiers)
    for identifier, kind, spelling, key in database.within(NAMES, sorted(wanted - memory.names.keys())):
        checked_name(database, kind, spelling, key)
        memory.name(identifier, kind, spelling)
    if not wanted <= memory.names.keys():
        raise damaged(database.where, f"{release.reference}: the name of a location is missing")
    return memory.names
