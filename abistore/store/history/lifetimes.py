"""Since when declarations are there, and since when they are as they are: from entries alone, without a shape.

A set of releases is a number with a bit for each, in release order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from abistore.model.history import Release
from abistore.model.names import FACETS, Facet, Name
from abistore.store.history.spans import EntrySpans
from abistore.store.releases import cards


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
        """The releases from one sequence number to another."""
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
    """By sequence number, the releases that have it or a lower one."""
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
    """Where each run of missing releases begins, and which release ends it."""
    while missing:
        begins = _lowest(missing)
        ends = _lowest(there & ~((1 << begins) - 1))
        yield begins, ends
        missing &= ~((1 << ends) - 1)
