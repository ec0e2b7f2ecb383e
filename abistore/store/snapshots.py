"""Loading releases: their entries from temporal rows, every shape decoded once.

Checking whether each snapshot says what it said decodes nothing: its digest is of the canonical bytes of its shapes,
which are what is stored.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import accumulate, chain
from typing import Any, cast

import msgspec
from sqlalchemy import and_, bindparam, or_, select

from abistore.errors import DamagedStore
from abistore.limits import limits_for
from abistore.model.declarations import FACETS, Facet, Kind, Name
from abistore.model.history import Release
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import (
    Evidence,
    Location,
    Snapshot,
    Variants,
    begun,
    decoder,
    digest,
    encode,
    name_digest,
    sort_variants,
)
from abistore.model.structure import TypeBudget, weakened, without_cycle_collection
from abistore.store import releases as cards
from abistore.store import tables as seals
from abistore.store.database import AMONG, Database, Row, damaged


class PackedLocations(msgspec.Struct, frozen=True, array_like=True):
    """The columns of the locations, in the order of name ids; ``steps`` are the differences of these."""

    files: list[str]
    steps: list[int]
    file: list[int]
    line: list[int]


_encode = msgspec.json.Encoder().encode
_decode = decoder(PackedLocations)


def pack(locations: Mapping[Name, Location], identifiers: Mapping[Name, int]) -> bytes:
    """``locations`` as bytes; every name must have one of the ``identifiers``."""
    rows = sorted((identifiers[name], location.file, location.line) for name, location in locations.items())
    files = sorted({row[1] for row in rows})
    index = {file: position for position, file in enumerate(files)}
    steps = [row[0] - previous for row, previous in zip(rows, [0, *(row[0] for row in rows)], strict=False)]
    return zlib.compress(
        _encode(PackedLocations(files, steps, [index[row[1]] for row in rows], [row[2] for row in rows])), 6
    )


def columns(body: bytes) -> PackedLocations:
    """The columns in ``body``."""
    return _decode(zlib.decompress(body))


def unpack(body: bytes) -> dict[int, Location]:
    """The locations in ``body``, by name id."""
    packed = columns(body)
    places = zip(accumulate(packed.steps), packed.file, packed.line, strict=True)
    return {identifier: Location(packed.files[file], line) for identifier, file, line in places}


class StoredLocations(Mapping[Name, Location]):
    """Locations, each made when it is looked at; ``rows`` tells where each name's are in the columns."""

    def __init__(self, packed: PackedLocations, rows: Mapping[Name, int]) -> None:
        self._packed = packed
        self._rows = rows

    def __getitem__(self, name: Name) -> Location:
        row = self._rows[name]
        return Location(self._packed.files[self._packed.file[row]], self._packed.line[row])

    def __iter__(self) -> Iterator[Name]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


decode = decoder(cast("type[AnyShape]", AnyShape))
"""A shape of its canonical JSON."""


SPELLED_OUT = 1 << 18
"""Letters of a shape beyond which a type in it may be too large."""


class RowMemory(msgspec.Struct):
    """Names and shapes by their row's id, shared by all snapshots that a store loads.

    The keys are of what was read, whatever digest its row has: sums over them tell whether it is what was stored.
    """

    names: dict[int, Name] = msgspec.field(default_factory=dict)
    shapes: dict[int, AnyShape] = msgspec.field(default_factory=dict)
    name_keys: dict[int, int] = msgspec.field(default_factory=dict)
    shape_keys: dict[int, int] = msgspec.field(default_factory=dict)
    refused: dict[int, int] = msgspec.field(default_factory=dict)
    """How many types were replaced in a shape, by its identity."""

    def forget(self) -> None:
        """Hold nothing."""
        for held in (self.names, self.shapes, self.name_keys, self.shape_keys, self.refused):
            held.clear()

    def name(self, identifier: int, kind: Kind, spelling: str) -> Name:
        """The name of a row."""
        found = self.names.get(identifier)
        if found is None:
            found = self.names[identifier] = Name(kind, spelling)
            self.name_keys[identifier] = seals.key(name_digest(kind, spelling))
        return found

    def shape(self, identifier: int, body: str) -> AnyShape:
        """The shape of a row."""
        found = self.shapes.get(identifier)
        if found is None:
            found = decode(body)
            if len(body) > SPELLED_OUT:
                found = self._within(found)
            self.shapes[identifier] = found
            self.shape_keys[identifier] = seals.key(digest(body.encode()))
        return found

    def _within(self, shape: AnyShape) -> AnyShape:
        """``shape`` without types that are too large, which earlier versions stored."""
        budget = TypeBudget()
        found = budget.shape(shape)
        if not budget.refused:
            return shape
        self.refused[id(found)] = budget.refused
        return found

    def whole_shape(self, database: Database, identifier: int, body: str, expected: bytes) -> AnyShape:
        """The shape of a row that has the digest ``expected``. Raises :class:`StoreError` where it has another."""
        found = None
        with suppress(msgspec.MsgspecError, AttributeError, TypeError):
            found = self.shape(identifier, body)
        if found is None or self.shape_keys[identifier] != seals.key(expected):
            raise damaged(database.where, f"the shape {expected.hex()} has another digest")
        return found


def checked_name(database: Database, kind: Kind, spelling: str, expected: bytes) -> Name:
    """The name of a row that has the digest ``expected``. Raises :class:`StoreError` where it has another."""
    if name_digest(kind, spelling) != expected:
        raise damaged(database.where, f"the name {kind} {spelling} has another digest")
    return Name(kind, spelling)


def wrong_entry(database: Database, line: int, sequence: int) -> str:
    """What is wrong with the entries of a snapshot, whose sum is another than its card says."""
    name_, shape_, entry = seals.name.c, seals.shape.c, seals.entry.c
    statement = (
        select(name_.kind, name_.spelling, name_.digest, shape_.digest, shape_.body)
        .select_from(seals.entry.outerjoin(seals.name).outerjoin(seals.shape))
        .where(entry.line_id == line, entry.first_seq <= sequence, entry.last_seq >= sequence)
    )
    for kind, spelling, name, shape, body in database.rows(statement):
        if name is None or shape is None:
            return "the name of an entry is missing" if name is None else "the shape of an entry is missing"
        if name_digest(kind, spelling) != name:
            return f"the name {kind} {spelling} has another digest than its row says"
        if digest(str(body).encode()) != shape:
            return f"the shape {shape.hex()} of {kind} {spelling} has another digest than its row says"
    return "an entry is missing or was changed"


_ENTRY, _NAME, _SHAPE = seals.entry.c, seals.name.c, seals.shape.c

_ENTRIES = select(
    *(_ENTRY.facet, _ENTRY.name_id, _ENTRY.shape_id, _ENTRY.first_seq, _ENTRY.last_seq),
    *(_NAME.kind, _NAME.spelling, _SHAPE.body),
).select_from(seals.entry.join(seals.name).join(seals.shape))
PLACES = select(seals.location.c.body).where(seals.location.c.snapshot_id == bindparam("identifier"))
NAMES = select(_NAME.id, _NAME.kind, _NAME.spelling, _NAME.digest).where(_NAME.id.in_(AMONG))
_MOST_SPANS = 100
"""How many conditions one statement joins; databases limit the depth of an expression."""


class _Card(msgspec.Struct, frozen=True):
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
        raise damaged(database.where, "an entry, a name or a shape has another type") from error
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


Key = tuple[str, str]
"""Kind and spelling of a name."""


class _State:
    """What holds in one facet at one moment: for each name the bodies of its shapes, and its part of the digest."""

    def __init__(self) -> None:
        self.sum = 0
        self._names: list[Key] = []
        self._bodies: dict[Key, set[bytes]] = defaultdict(set)
        self._parts: dict[Key, bytes] = {}

    def change(self, key: Key, body: bytes, seal: int, begins: bool) -> None:
        """Let a shape of a name begin, or end."""
        self.sum += seal if begins else -seal
        bodies = self._bodies[key]
        (bodies.add if begins else bodies.discard)(body)
        place = bisect_left(self._names, key)
        known = self._names[place : place + 1] == [key]
        if bodies:
            self._parts[key] = b"%b,[%b]]" % (encode(key), b",".join(sorted(bodies)))
            if not known:
                self._names.insert(place, key)
        elif known:
            del self._names[place]

    def parts(self) -> list[bytes]:
        return [self._parts[key] for key in self._names]


def line_problems(database: Database, line: int, what: str) -> Iterator[str]:
    """What is wrong with the snapshots of the line ``what``."""
    changes, missing = _changes(database, line)
    yield from (f"{what}: {problem}" for problem in missing)
    states = [_State() for _ in FACETS]
    card = seals.snapshot.c
    columns = (card.sequence, card.version, card.target, card.facets, card.digest, card.members)
    statement = select(*columns).where(card.line_id == line).order_by(card.sequence)
    for sequence, version, target, facets, key, members in database.rows(statement):
        for moment in sorted(moment for moment in changes if moment <= sequence):
            for facet, name, body, seal, begins in changes.pop(moment):
                states[facet].change(name, body, seal, begins)
        counts = cards.facet_counts(facets)
        held = [number for number, facet in enumerate(FACETS) if counts.get(facet)]
        if sum(states[number].sum for number in held) != members:
            yield f"{what} {version}, number {sequence}: an entry is missing or was changed"
        elif _digest(target, counts, states) != key:
            yield f"{what} {version}, number {sequence}: it has another digest than it was stored with, {key.hex()}"


Change = tuple[int, Key, bytes, int, bool]
"""A facet, a name, a shape's canonical bytes, the checksum of both, and whether it begins."""


def _changes(database: Database, line: int) -> tuple[dict[int, list[Change]], list[str]]:
    """What begins and ends in which snapshot of a line, ends first; and what is missing."""
    entry, name = seals.entry.c, seals.name.c
    statement = (
        select(entry.facet, entry.first_seq, entry.last_seq, name.kind, name.spelling, seals.shape.c.body)
        .select_from(seals.entry.outerjoin(seals.name).outerjoin(seals.shape))
        .where(entry.line_id == line)
    )
    begin: dict[int, list[Change]] = defaultdict(list)
    end: dict[int, list[Change]] = defaultdict(list)
    missing: dict[str, None] = {}
    for facet, first, last, kind, spelling, body in database.rows(statement):
        if kind is None or body is None:
            missing["the name of an entry is missing" if kind is None else "the shape of an entry is missing"] = None
            continue
        if facet not in range(len(FACETS)):
            missing[f"an entry is of facet {facet}"] = None
            continue
        key, shape = (kind, spelling), body.encode()
        seal = seals.member(facet, seals.key(name_digest(*key)), seals.key(digest(shape)))
        begin[first].append((facet, key, shape, seal, True))
        end[last + 1].append((facet, key, shape, seal, False))
    moments = sorted(begin.keys() | end.keys())
    return {moment: [*end[moment], *begin[moment]] for moment in moments}, list(missing)


def _digest(target: str, counts: Mapping[Facet, int], states: list[_State]) -> bytes:
    state = begun(target.encode())
    for number, facet in enumerate(FACETS):
        if facet in counts:
            parts = states[number].parts() if counts[facet] else []
            state.update(b'["%b",[' % facet.encode())
            if parts:
                state.update(b"[%b" % b",[".join(parts))
            state.update(b"]]")
    return state.digest()
