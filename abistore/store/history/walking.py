"""Going through a line's releases one by one: each costs what differs from the one before."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import select

from abistore.errors import DamagedStore
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.digest import name_digest, sort_variants
from abistore.model.history import Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Location, Snapshot, Variants
from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.failures import damaged
from abistore.store.history.lifetimes import Lifetimes
from abistore.store.history.spans import EntrySpans, Held
from abistore.store.releases import cards
from abistore.store.snapshots.locations import PackedLocations, StoredLocations, columns
from abistore.store.snapshots.memory import RowMemory, wrong_entry
from abistore.store.snapshots.read import names_of, places_body

_NAMES = select(tables.name.c.id, tables.name.c.kind, tables.name.c.spelling).where(tables.name.c.id.in_(AMONG))
_MEANT = select(tables.name.c.id, tables.name.c.kind, tables.name.c.spelling).where(tables.name.c.digest.in_(AMONG))
_SHAPES = select(tables.shape.c.id, tables.shape.c.body).where(tables.shape.c.id.in_(AMONG))

Table = Mapping[Name, Variants]
NOTHING: Table = {}


class WalkStep(NamedTuple):
    """One release: its snapshot, the names that differ from the release before in any facet, and each one's file."""

    snapshot: Snapshot
    changed: frozenset[Name]
    files: Mapping[Name, str]


class LineWalk:
    """The releases of one line, in any order: the nearer one is to the last one, the less it costs.

    Shapes are decoded when they come and let go of when they are gone. What is read is verified as by
    :func:`abistore.store.snapshots.read.load_many`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._memory = RowMemory()
        self._spans: EntrySpans | None = None
        self._sequence = 0
        self._held: list[dict[Name, Variants]] = [{} for _ in FACETS]
        self._ids: list[dict[int, tuple[int, ...]]] = [{} for _ in FACETS]
        self._sums = [0 for _ in FACETS]
        self._uses: Counter[int] = Counter()
        self._shown: dict[Facet, Table] = {}
        self._packed: PackedLocations | None = None
        self._rows: Mapping[Name, int] = {}
        self._files: Mapping[Name, str] = {}

    def meet(self, names: Collection[Name]) -> None:
        """Look names up, so that their lives can be told though no release was walked to that has them."""
        digests = sorted(name_digest(name.kind, name.spelling) for name in names)
        for row in self._database.within(_MEANT, digests):
            self._memory.name(*row)

    def named(self, identifiers: Collection[int]) -> Mapping[int, Name]:
        """The names of rows."""
        for row in self._database.within(_NAMES, sorted(set(identifiers) - self._memory.names.keys())):
            self._memory.name(*row)
        return {identifier: self._memory.names[identifier] for identifier in identifiers}

    def lifetimes(self, releases: Sequence[Release]) -> Lifetimes:
        """The lives of the names that the walk has met by now, by the line's ``releases`` in release order."""
        if self._spans is None:
            line, _ = cards.columns_of(self._database, releases[0])
            self._spans = EntrySpans(self._database, line)
        return Lifetimes(self._spans, self._memory.names, releases)

    def lifetimes_of(self, names: Collection[Name], releases: Sequence[Release]) -> Lifetimes:
        """The same of some names, whether the walk has met them or not; the entries of others are not read."""
        self.meet(names)
        if self._spans is not None:
            return self.lifetimes(releases)
        line, _ = cards.columns_of(self._database, releases[0])
        meant = frozenset(names)
        rows = [row for row, name in self._memory.names.items() if name in meant]
        return Lifetimes(EntrySpans(self._database, line, names=rows), self._memory.names, releases)

    def lifetimes_in(self, facet: Facet, releases: Sequence[Release]) -> Lifetimes:
        """The same of one facet alone; the entries of others, of which a line has many more, are not read."""
        line, _ = cards.columns_of(self._database, releases[0])
        return Lifetimes(EntrySpans(self._database, line, facet), self._memory.names, releases)

    def step(self, release: Release) -> WalkStep:
        """The next release. Raises :class:`SnapshotNotFound`, and :class:`DamagedStore` where it is damaged."""
        try:
            line, card = cards.columns_of(self._database, release)
            counts = cards.facet_counts(card["snapshot.facets"])
            with limits_for(sum(counts.values()) << 10, f"loading {release.reference}"), without_cycle_collection():
                return self._step(release, line, card, counts)
        except (msgspec.MsgspecError, zlib.error) as error:
            raise DamagedStore(f"{self._database.where}: a stored snapshot is damaged ({error})") from error

    def _step(self, release: Release, line: int, card: Mapping[str, Any], counts: Mapping[Facet, int]) -> WalkStep:
        if self._spans is None:
            self._spans = EntrySpans(self._database, line)
        touched = self._go(self._spans.between(self._sequence, release.sequence))
        self._sequence = release.sequence
        seen = {facet: code for code, facet in enumerate(FACETS) if counts.get(facet)}
        if sum(self._sums[code] for code in seen.values()) != card["snapshot.members"]:
            why = wrong_entry(self._database, line, release.sequence)
            raise damaged(self._database.where, f"{release.reference}: {why}")
        # an empty facet may stand beside rows that wait for the next snapshot that sees more
        shown = {facet: self._held[seen[facet]] if facet in seen else NOTHING for facet in FACETS if facet in counts}
        before, self._shown = self._shown, shown
        locations = self._located(release, card)
        snapshot = Snapshot(
            library=release.line.library,
            version=release.version,
            target=release.target,
            entries=shown,
            evidence=release.evidence,
            provenance=release.provenance,
            locations=locations,
        )
        return WalkStep(snapshot, frozenset(_changed(before, shown, touched)), self._files)

    def _go(self, net: Mapping[Held, bool]) -> Mapping[Facet, Collection[Name]]:
        """Let entries come and go; the names that they are of, by facet."""
        self._fetch([held for held, comes in net.items() if comes])
        touched: dict[int, dict[int, list[tuple[int, bool]]]] = {}
        for (code, name, shape), comes in net.items():
            touched.setdefault(code, {}).setdefault(name, []).append((shape, comes))
            self._uses[shape] += 1 if comes else -1
            seal = seals.member(code, self._memory.name_keys[name], self._memory.shape_keys[shape])
            self._sums[code] += seal if comes else -seal
        for code, names in touched.items():
            held, ids = dict(self._held[code]), self._ids[code]
            for identifier, moves in names.items():
                gone = {shape for shape, comes in moves if not comes}
                kept = [shape for shape in ids.pop(identifier, ()) if shape not in gone]
                if now := (*kept, *(shape for shape, comes in moves if comes)):
                    ids[identifier] = now
                    held[self._memory.names[identifier]] = self._variants(now)
                else:
                    held.pop(self._memory.names[identifier], None)
            self._held[code] = held
        self._free(shape for (_, _, shape), comes in net.items() if not comes)
        return {FACETS[code]: [self._memory.names[each] for each in names] for code, names in touched.items()}

    def _variants(self, shapes: tuple[int, ...]) -> Variants:
        found = [self._memory.shapes[shape] for shape in shapes]
        return (found[0],) if len(found) == 1 else sort_variants(found)

    def _fetch(self, coming: Collection[Held]) -> None:
        """Read the names and shapes of what comes."""
        memory, database = self._memory, self._database
        names = {name for _, name, _ in coming} - memory.names.keys()
        shapes = {shape for _, _, shape in coming} - memory.shapes.keys()
        try:
            for row in database.within(_NAMES, sorted(names)):
                memory.name(*row)
            for row in database.within(_SHAPES, sorted(shapes)):
                memory.shape(*row)
        except (AttributeError, TypeError) as error:  # a flipped byte makes a text of a number
            raise damaged(database.where, "a name or a shape is of another type") from error
        if not (names <= memory.names.keys() and shapes <= memory.shapes.keys()):
            raise damaged(database.where, "the name or the shape of an entry is missing")

    def _free(self, shapes: Iterable[int]) -> None:
        for shape in shapes:
            if self._uses.get(shape) == 0:
                del self._uses[shape]
                self._memory.shapes.pop(shape)
                self._memory.shape_keys.pop(shape)

    def _located(self, release: Release, card: Mapping[str, Any]) -> Mapping[Name, Location]:
        """Where declarations stand; which of them are where in the columns is kept where it is as it was."""
        body = places_body(self._database, release, card)
        if body is None:
            self._packed, self._rows, self._files = None, {}, {}
            return {}
        packed, before = columns(body), self._packed
        if before is None or (packed.steps, packed.file, packed.files) != (before.steps, before.file, before.files):
            identifiers = list(accumulate(packed.steps))
            names = names_of(self._database, release, identifiers, self._memory)
            self._rows = {names[identifier]: row for row, identifier in enumerate(identifiers)}
            self._files = {name: packed.files[packed.file[row]] for name, row in self._rows.items()}
        self._packed = packed
        return StoredLocations(packed, self._rows)


def _changed(
    before: Mapping[Facet, Table], after: Mapping[Facet, Table], touched: Mapping[Facet, Collection[Name]]
) -> Iterator[Name]:
    """The names that two releases show in different ways."""
    for facet in before.keys() | after.keys():
        old, new = before.get(facet, NOTHING), after.get(facet, NOTHING)
        names = touched.get(facet, ()) if old and new else old.keys() | new.keys()
        yield from (name for name in names if old.get(name) != new.get(name))
