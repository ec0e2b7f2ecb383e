"""Asking single releases what they break of one base, and finding the first that does with few questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.findings import Comparison, Finding, Impact, evidence_rank
from abistore.model.history import Release
from abistore.model.names import FACETS, SELF, Facet, Name
from abistore.model.recorded.common_ground import common_ground
from abistore.model.recorded.unrecorded import unlike
from abistore.model.snapshot import Evidence
from abistore.service.since.line import AskedLine

if TYPE_CHECKING:
    from abistore.compare.context import Context
    from abistore.compare.judge.alone import JudgedAlone
    from abistore.service.judging.ruling import Ruling
    from abistore.store.history.lifetimes import Lifetimes
    from abistore.store.history.walking import WalkStep
    from abistore.store.store import Store

BREAKS = (Impact.API_BREAK, Impact.BREAKING)


def broken_names(findings: Iterable[Finding], facets: Collection[Facet] = FACETS) -> set[Name]:
    """The names of which findings and their consequences break anything, as far as ``facets`` show it."""
    return {each.name for each in _breaking(findings) if each.facet in facets}


def _breaking(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if finding.impact in BREAKS:
            yield finding
        yield from _breaking(finding.consequences)


class Probes:
    """What the releases of a line break, against one base. Each release is judged when it is first asked for.

    Only the asked declarations are judged. Asking releases that are near each other costs least.
    """

    def __init__(self, store: Store, line: AskedLine, by: Ruling | None = None) -> None:
        from abistore.compare.differences import Differences
        from abistore.compare.side import SideFacts

        self.line = line
        self._by = by
        self.walk = store.walk()
        self._base = SideFacts(*self.walk.step(line.base)[::2])
        self._differing = Differences(self._base)
        self._at: tuple[int, JudgedAlone] | None = None
        self._found: dict[tuple[int, Name], Sequence[Finding]] = {}
        self._observed: dict[Facet, Sequence[int]] = {}
        self._alike: dict[Name, int] = {}
        self.judged = 0
        """So many releases were looked at."""

    def latest(self) -> Comparison:
        """What comparing the base and the latest release finds."""
        from abistore.compare.comparison import compare
        from abistore.compare.judge.whole import compared

        releases, base = self.line.releases, self._base.snapshot
        context = self._context(len(releases) - 1)
        weight = base.weight + context.new.snapshot.weight
        with limits_for(weight, f"judging {releases[-1].reference}"), without_cycle_collection():
            if context.old is not self._base:
                return compare(base, self._step(len(releases) - 1).snapshot, self._by)
            return compared(context, self._by)

    def meet(self, names: Collection[Name]) -> Mapping[Name, Sequence[int]]:
        """Prepare for questions about names: the places after the base in which each is another than just before.

        In a release in which a name is all that it is in the base, nothing is found about it.
        """
        self.walk.meet(names)
        start = self.line.start
        self._alike |= self.lifetimes.alike([name for name in names if name != SELF], start)
        turns = self.lifetimes.changes(names)
        return {name: [place for place in places if place > start] for name, places in turns.items()}

    def breaks(self, place: int, name: Name) -> Sequence[Finding]:
        """What the release at ``place`` breaks of ``name``."""
        if place == self.line.start or self._alike.get(name, 0) >> place & 1:
            return ()
        key = place, name
        if key not in self._found:
            release = self.line.releases[place]
            alone = self._alone(place)
            with limits_for(release.declarations << 8, f"judging {release.reference}"), without_cycle_collection():
                self._found[key] = tuple(each for each in alone.about(name) if each.impact in BREAKS)
        return self._found[key]

    @cached_property
    def lifetimes(self) -> Lifetimes:
        """The lives of the names that were met."""
        return self.walk.lifetimes(self.line.releases)

    def shown(self, facet: Facet) -> bool:
        """Whether the base and the latest release show anything of a facet."""
        return min(_rank(self.line.base, facet), _rank(self.line.releases[-1], facet)) > 0

    def observed(self, facet: Facet) -> Sequence[int]:
        """The places from the base on that show as much of a facet as the base and the latest release both do."""
        if facet not in self._observed:
            self._observed[facet] = self._observing(facet)
        return self._observed[facet]

    def _observing(self, facet: Facet) -> Sequence[int]:
        releases = self.line.releases
        rank = min(_rank(self.line.base, facet), _rank(releases[-1], facet))
        later = (place for place in range(self.line.start + 1, len(releases)) if _rank(releases[place], facet) >= rank)
        return [self.line.start, *later]

    def _alone(self, place: int) -> JudgedAlone:
        from abistore.compare.judge.alone import JudgedAlone

        if self._at is None or self._at[0] != place:
            self._at = place, JudgedAlone(self._context(place), self._by)
            self.judged += 1
        return self._at[1]

    def _step(self, place: int) -> WalkStep:
        step = self.walk.step(self.line.releases[place])
        self._differing.note(step.changed)
        return step

    def _context(self, place: int) -> Context:
        """The base and another release under its names, each without the facts that the other does not record."""
        from abistore.compare.context import Context
        from abistore.compare.judge.concluding import refuse_strangers
        from abistore.compare.judge.whole import aligned_context
        from abistore.compare.side import SideFacts

        release = self.line.releases[place]
        step = self._step(place)
        base, side = self._base, SideFacts(step.snapshot, step.files)
        refuse_strangers(base.snapshot, side.snapshot)
        if unlike(base.snapshot.evidence, side.snapshot.evidence):
            return aligned_context(Context(*map(SideFacts, common_ground(base.snapshot, side.snapshot))))
        differs, renames = self._differing.of(side), self._differing.renames(side)
        cards = self.line.base.side, release.side
        return aligned_context(Context(base, side, differing=differs, renames=renames, cards=cards))


def _rank(release: Release, facet: Facet) -> int:
    found = next((each for each in release.evidence if each.facet == facet), Evidence(facet, "missing"))
    return evidence_rank(found)


def last_onset(places: Sequence[int], turns: Iterable[int], holds: Callable[[int], bool]) -> int:
    """The index in ``places`` at which what holds at the last of them began to hold.

    It holds there, and not at the place before: both were asked. Between two ``turns`` something may begin or end once
    at most, without a look at every place.
    """
    starts = [index for index in _starts(places, turns) if index > 0]
    high = len(places) - 1
    for start in (*reversed(starts), 1):
        if start > high:
            continue
        if not holds(places[start]):
            return _between(places, start, high, holds)
        high = start
        if start == 1 or not holds(places[start - 1]):
            return start
        high = start - 1
    return high


def first_onset(places: Sequence[int], turns: Iterable[int], holds: Callable[[int], bool]) -> int | None:
    """The first index in ``places`` at which something holds that did not at the place before; ``None`` if none.

    What is asked for is as in :func:`last_onset`.
    """
    starts = sorted({1, *(index for index in _starts(places, turns) if index > 0)})
    for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
        if start >= len(places):
            break
        if holds(places[start]):
            return start
        if end - 1 > start and holds(places[end - 1]):
            return _between(places, start, end - 1, holds)
    return None


def _starts(places: Sequence[int], turns: Iterable[int]) -> list[int]:
    """The indices in ``places`` of the first one at or after each turn."""
    from bisect import bisect_left

    return sorted({index for index in (bisect_left(places, turn) for turn in turns) if index < len(places)})


def _between(places: Sequence[int], low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The index of a beginning between ``low``, where it does not hold, and ``high``, where it does."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(places[middle]):
            high = middle
        else:
            low = middle
    return high
