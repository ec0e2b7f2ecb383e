"""Walking through the releases of a line: since when each declaration exists.

A set of releases is a number with a bit for each, in release order.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, islice
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import select

from abistore.errors import DamagedStore
from abistore.limits import limits_for
from abistore.model.declarations import FACETS, Facet, Name
from abistore.model.history import Release
from abistore.model.snapshot import Location, Snapshot, Variants, name_digest, sort_variants
from abistore.model.structure import without_cycle_collection
from abistore.store import releases as cards
from abistore.store import tables
from abistore.store.database import AMONG, Database, damaged
from abistore.store.snapshots import (
    PackedLocations,
    RowMemory,
    StoredLocations,
    columns,
    names_of,
    places_body,
    wrong_entry,
)

Held: TypeAlias = tuple[int, int, int]
"""An entry: its facet's number, and the ids of its name and its shape."""


_AT_ONCE = 10_000


class EntrySpans:
    """The entries of a line in columns, some 30 bytes each: a long history has hundreds of thousands.

    With ``facet``, those of one facet alone; with ``names``, those of these rows of names.
    """

    def __init__(
        self, database: Database, line: int, facet: Facet | None = None, names: Collection[int] | None = None
    ) -> None:
        self._facet, self._name, self._shape = array("b"), array("q"), array("q")
        self._first, self._last = array("i"), array("i")
        columns = self._facet, self._name, self._shape, self._first, self._last
        entry = tables.entry.c
        selected = select(entry.facet, entry.name_id, entry.shape_id, entry.first_seq, entry.last_seq)
        statement = selected.where(entry.line_id == line).order_by(entry.first_seq)
        if facet is not None:
            statement = statement.where(entry.facet == FACETS.index(facet))
        try:
            if names is None:
                rows = database.each(statement)
            else:
                rows = iter(database.within(statement.where(entry.name_id.in_(AMONG)), sorted(names)))
            while some := tuple(islice(rows, _AT_ONCE)):
                for column, values in zip(columns, zip(*some, strict=True), strict=True):
                    column.extend(values)
        except (OverflowError, TypeError) as error:  # a flipped byte
            raise damaged(database.where, "an entry is out of range") from error
        # of a part of the line nobody asks for the steps from release to release
        every = range(len(self._last)) if facet is None and names is None else range(0)
        self._ends = array("I", sorted(every, key=self._last.__getitem__))
        self._lasts = array("i", (self._last[row] for row in self._ends))

    def rows(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Every entry: its facet's number, the ids of its name and shape, and its first and last sequence number."""
        return zip(self._facet, self._name, self._shape, self._first, self._last, strict=True)

    def between(self, before: int, after: int) -> dict[Held, bool]:
        """The entries that hold ``after`` and not ``before`` (true), or the reverse (false)."""
        if not before:
            spans = zip(self._first, self._last, self._facet, self._name, self._shape, strict=True)
            return {(facet, name, shape): True for first, last, facet, name, shape in spans if first <= after <= last}
        found: dict[Held, bool] = {}
        for row, comes in self._steps(before, after):
            held = self._facet[row], self._name[row], self._shape[row]
            if found.get(held) is (not comes):
                del found[held]  # it came and went, or the reverse
            else:
                found[held] = comes
        return found

    def _steps(self, before: int, after: int) -> Iterator[tuple[int, bool]]:
        for sequence in range(before, after):
            yield from ((row, False) for row in self._ending(sequence))
            yield from ((row, True) for row in self._beginning(sequence + 1))
        for sequence in range(before, after, -1):
            yield from ((row, False) for row in self._beginning(sequence))
            yield from ((row, True) for row in self._ending(sequence - 1))

    def _beginning(self, sequence: int) -> range:
        return range(bisect_left(self._first, sequence), bisect_right(self._first, sequence))

    def _ending(self, sequence: int) -> Iterator[int]:
        places = range(bisect_left(self._lasts, sequence), bisect_right(self._lasts, sequence))
        return (self._ends[place] for place in places)


class Lifetime(NamedTuple):
    """Since which release a name is there, and which changed it last, as places in release order."""

    since: int
    changed: int


class Lifetimes:
    """The lives of a line's names, in the order of its ``releases``.

    A release whose evidence could not show a facet is skipped: the name is there in it if it is before and after.
    """

    def __init__(self, spans: EntrySpans, names: Mapping[int, Name], releases: Sequence[Release]) -> None:
        self._spans = spans
        self._names = names
        self._places = {release.sequence: place for place, release in enumerate(releases)}
        self._until = _accumulated(self._places)
        self._all = (1 << len(releases)) - 1
        states = {facet: [cards.evidence_state(each.evidence, facet) for each in releases] for facet in FACETS}
        self._blind = {facet: _bits(state == "missing" for state in states[facet]) for facet in FACETS}
        self._rows = cache(self._by_name)
        self._leaving = cache(self._left)

    def of(self, release: Release, facets: Collection[Facet]) -> dict[Name, Lifetime]:
        """The names that ``release`` shows in any of ``facets``."""
        place = self._places[release.sequence]
        found: dict[Name, Lifetime] = {}
        for identifier, held in self._rows().items():
            there = self._there(held, facets)
            if there >> place & 1 and identifier in self._names:
                blind = self._all
                for facet in facets:
                    blind &= self._blind[facet]
                since = self._first_of_run(there, blind, place)
                changed = [self._unchanged_since(shapes, facet, place) for facet, shapes in held.items()]
                found[self._names[identifier]] = Lifetime(since, max(since, *changed))
        return found

    def changes(self, names: Collection[Name]) -> dict[Name, list[int]]:
        """The places of the releases in which something of a name is another than in the release before, in order."""
        found: dict[Name, list[int]] = {name: [] for name in names}
        for name, held in self._meant(names):
            turns = 0
            for shapes in held.values():
                for bits in shapes.values():
                    turns |= bits ^ (bits << 1)
            found[name] = [*_places(turns & self._all & ~1)]
        return found

    def alike(self, names: Collection[Name], start: int) -> dict[Name, int]:
        """The releases in which names are all that they are in the one at ``start``."""
        found: dict[Name, int] = {}
        for name, held in self._meant(names):
            same = self._all
            for bits in (bits for shapes in held.values() for bits in shapes.values()):
                same &= bits if bits >> start & 1 else ~bits
            found[name] = same
        return found

    def gaps(self, facet: Facet, start: int) -> dict[Name, list[tuple[int, int]]]:
        """The names that the releases at ``start`` and the last one show, and not all between: the places of each gap.

        A gap is told by its first place and by that of the release that ends it.
        """
        found: dict[Name, list[tuple[int, int]]] = {}
        above = self._all & ~((1 << start) - 1)
        ends = 1 << start | 1 << (self._all.bit_length() - 1)
        for identifier, held in self._rows().items():
            there = self._there(held, (facet,))
            missing = above & ~there & ~self._blind[facet]
            if missing and there & ends == ends and identifier in self._names:
                found[self._names[identifier]] = [*_runs(missing, there)]
        return found

    def short_lived(
        self, facet: Facet, start: int, end: int | None = None, *, among: int | None = None
    ) -> dict[int, tuple[int, int, int]]:
        """What came after the release at ``start`` and is gone in the one at ``end``, by the rows of the names.

        ``end`` is the last release by default. For each the places of the first and the last release of its last run,
        and of the one in which it was gone. With ``among``, a bit for each release, the others are passed over.
        """
        found: dict[int, tuple[int, int, int]] = {}
        end = self._all.bit_length() - 1 if end is None else end
        above = (1 << (end + 1)) - (1 << start)
        if among is not None:
            above &= among
        blind = self._blind[facet] | (self._all & ~above)
        ends = 1 << start | 1 << end
        if self._blind[facet] & ends:
            return found
        for identifier, every in self._leaving(facet).items():
            there = every & above
            if there and not there & ends:
                last = there.bit_length() - 1
                gone = _lowest(above & ~self._blind[facet] & ~((1 << (last + 1)) - 1))
                found[identifier] = (self._first_of_run(there, blind, last), last, gone)
        return found

    def reverted(self, start: int) -> int:
        """How many names are in the last release as at ``start``, and were something else between."""
        last = self._all.bit_length() - 1
        above = self._all & ~((1 << start) - 1)
        count = 0
        for held in self._rows().values():
            every = [bits for shapes in held.values() for bits in shapes.values()]
            alike = all(bits >> start & 1 == bits >> last & 1 for bits in every)
            count += alike and any(above & ~bits for bits in every if bits >> last & 1)
        return count

    def _by_name(self, wanted: frozenset[int] | None = None) -> Mapping[int, Mapping[Facet, Mapping[int, int]]]:
        """The releases that have each shape of each name, or of ``wanted`` ones, facet by facet."""
        found: dict[int, dict[Facet, dict[int, int]]] = {}
        known: dict[tuple[int, int], int] = {}
        for code, name, shape, begins, ends in self._spans.rows():
            if wanted is not None and name not in wanted:
                continue
            bits = known.get((begins, ends))
            if bits is None:
                bits = known[begins, ends] = self._within(begins, ends)
            if bits:
                facets = found.get(name)
                if facets is None:
                    facets = found[name] = {}
                shapes = facets.setdefault(FACETS[code], {})
                shapes[shape] = shapes.get(shape, 0) | bits
        return found

    def _within(self, begins: int, ends: int) -> int:
        last = len(self._until) - 1
        return self._until[min(ends, last)] & ~self._until[min(begins, last + 1) - 1]

    def _left(self, facet: Facet) -> Mapping[int, int]:
        """The releases that show each name of a facet that some later release, which could show it, does not."""
        found: dict[int, int] = {}
        for identifier, held in self._rows().items():
            there = self._there(held, (facet,))
            if there and (self._all & ~there & ~self._blind[facet]) > there & -there:
                found[identifier] = there
        return found

    def _meant(self, names: Collection[Name]) -> Iterator[tuple[Name, Mapping[Facet, Mapping[int, int]]]]:
        """Those of ``names`` that the line ever had, with the releases that have each of their shapes."""
        meant = frozenset(names)
        wanted = frozenset(identifier for identifier, name in self._names.items() if name in meant)
        for identifier, held in self._by_name(wanted).items():
            yield self._names[identifier], held

    def _there(self, held: Mapping[Facet, Mapping[int, int]], facets: Collection[Facet]) -> int:
        bits = 0
        for facet in facets:
            for one in held.get(facet, {}).values():
                bits |= one & ~self._blind[facet]
        return bits

    def _unchanged_since(self, shapes: Mapping[int, int], facet: Facet, place: int) -> int:
        """Since when the name has the shapes that it has, in one facet; 0 where it has none there."""
        same, shown = self._all, 0
        for bits in shapes.values():
            same &= bits if bits >> place & 1 else ~bits
            shown |= bits
        return self._first_of_run(same & shown, self._blind[facet], place) if shown >> place & 1 else 0

    def _first_of_run(self, bits: int, blind: int, place: int) -> int:
        """The first release of the run of ``bits`` that ends at ``place``, of which ``blind`` ones say nothing."""
        below = (1 << (place + 1)) - 1
        start = (~(bits | blind) & below).bit_length()
        return _lowest(bits & ~blind & below & ~((1 << start) - 1) | 1 << place)


def _accumulated(places: Mapping[int, int]) -> list[int]:
    found = [0] * (max(places) + 1)
    for sequence in range(1, len(found)):
        found[sequence] = found[sequence - 1] | (1 << places[sequence] if sequence in places else 0)
    return found


def _bits(flags: Iterator[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _places(bits: int) -> Iterator[int]:
    while bits:
        yield _lowest(bits)
        bits &= bits - 1


def _runs(missing: int, there: int) -> Iterator[tuple[int, int]]:
    while missing:
        begins = _lowest(missing)
        ends = _lowest(there & ~((1 << begins) - 1))
        yield begins, ends
        missing &= ~((1 << ends) - 1)


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
    :func:`abistore.store.snapshots.load_many`.
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
            seal = tables.member(code, self._memory.name_keys[name], self._memory.shape_keys[shape])
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
            raise damaged(database.where, "a name or a shape has another type") from error
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
    for facet in before.keys() | after.keys():
        old, new = before.get(facet, NOTHING), after.get(facet, NOTHING)
        names = touched.get(facet, ()) if old and new else old.keys() | new.keys()
        yield from (name for name in names if old.get(name) != new.get(name))
