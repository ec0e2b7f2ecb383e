"""What releases break of the ones before them, told by the verdicts about single steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from abistore.errors import DamagedStore, Incomparable, InputError
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.findings import Comparison, Finding, Impact, Verdict, with_consequences
from abistore.model.history import LineKey, Release, StoredVerdict, VerdictSummary
from abistore.model.judging.engine import ENGINE
from abistore.model.names import FACETS, Name
from abistore.model.snapshot import evidence_of
from abistore.service.history.consecutive import ConsecutiveJudge
from abistore.service.history.verdicts import given_now, key_of
from abistore.service.judging.judging import concluded

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.history.walking import LineWalk
    from abistore.store.store import Store

Broken: TypeAlias = Mapping[Name, Impact]
"""The names that a comparison breaks, each with the worst impact of what is found about it."""


class StepBreaks(Protocol):
    """What releases break of earlier ones; nothing where nobody can tell."""

    def broke(self, old: Release, new: Release) -> bool:
        """Whether ``new`` breaks anything."""

    def broken(self, old: Release, new: Release) -> Broken:
        """What it breaks."""


class LineStep(NamedTuple):
    """Two releases by their places, between which none shows as much of some facet."""

    before: int
    after: int


def broken_by(found: Comparison | None) -> dict[Name, Impact]:
    """What a comparison breaks, consequences included."""
    worst: dict[Name, Impact] = {}
    for each in with_consequences(found.findings) if found else ():
        if each.impact >= Impact.API_BREAK:
            worst[each.name] = max(each.impact, worst.get(each.name, each.impact))
    return worst


def steps_of(releases: Sequence[Release]) -> list[LineStep]:
    """From each release to the next, and over those whose evidence lacks a facet that both neighbours show."""
    found = {LineStep(place, place + 1) for place in range(len(releases) - 1)}
    for facet in FACETS:
        seeing = [at for at, each in enumerate(releases) if evidence_of(each.evidence, facet).state != "missing"]
        found.update(LineStep(*pair) for pair in pairwise(seeing))
    return sorted(found)


def steps_at_once(declarations: int, most: int) -> int:
    """How many steps of a line are judged for one question: fewer of a large library, for ``most`` declarations.

    Two are judged of any: an answer that looked at none would seem to say that nothing broke.
    """
    return max(2, most // max(declarations, 1))


class StepJudge:
    """What releases of a line break of earlier ones: by stored verdicts, or by some that are given now.

    ``most`` are given at most, and ``keep`` stores them. ``left`` are the steps that nobody judged. A ``walk``
    that nobody else uses any more is gone on with.
    """

    def __init__(
        self,
        store: Store,
        line: LineKey,
        by: Ruling | None,
        *,
        most: int,
        keep: Callable[[StoredVerdict], None] | None = None,
        walk: LineWalk | None = None,
    ) -> None:
        self._store, self._by, self._keep = store, by, keep
        self._known = store.verdict_summaries(line, str(ENGINE))
        self._judge = ConsecutiveJudge(store, by, walk)
        self._given: dict[tuple[int, int], Broken] = {}
        self._most = most
        self.left: set[tuple[int, int]] = set()

    def broke(self, old: Release, new: Release) -> bool:
        """Whether ``new`` breaks anything of ``old``."""
        summary = self._summary(old, new)
        return bool(self.broken(old, new)) if summary is None else summary.verdict >= Verdict.API_BREAK

    def broken(self, old: Release, new: Release) -> Broken:
        """What it breaks."""
        pair = old.sequence, new.sequence
        if pair not in self._given:
            found = None
            if new.candidate or self._summary(old, new):
                found = self._store.find_verdict(old, new, key_of(self._by, old, new), str(ENGINE))
            found = found or self._judged(old, new)
            self._given[pair] = broken_by(found.comparison if found else None)
            if found is None:
                self.left.add(pair)
        return self._given[pair]

    def about(self, old: Release, new: Release, names: Iterable[Name]) -> list[Finding]:
        """What comparing them finds about some names alone; nothing where they cannot be compared."""
        from abistore.compare.context import Context
        from abistore.compare.judge.alone import JudgedAlone
        from abistore.compare.judge.consequences import fold
        from abistore.compare.rule import RULES

        try:
            sides = self._judge.sides(old, new)
            with limits_for(old.declarations << 9, f"judging {new.reference}"), without_cycle_collection():
                context = Context(*sides, cards=(old.side, new.side))
                alone = JudgedAlone(context, self._by)
                return fold([each for name in sorted(names) for each in alone.about(name)], RULES, context)
        except (InputError, Incomparable, DamagedStore):
            return []

    def _summary(self, old: Release, new: Release) -> VerdictSummary | None:
        key = old.sequence, new.sequence, key_of(self._by, old, new)
        return None if new.candidate else self._known.get(key)

    def _judged(self, old: Release, new: Release) -> StoredVerdict | None:
        if self._most <= 0:
            return None
        self._most -= 1
        given = self._alone(old, new) if new.candidate else self._judge.beside(old, new)
        if isinstance(given, str):
            return None
        if self._keep:
            self._keep(given)
        return given

    def _alone(self, old: Release, new: Release) -> StoredVerdict | str:
        """The verdict about a candidate, which no walk through its line meets."""
        try:
            before, after = self._store.load_many([old, new])
            return given_now(old, new, *concluded(before, after, self._by))
        except (InputError, Incomparable, DamagedStore) as error:
            return error.message
