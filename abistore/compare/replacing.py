"""Which of many releases can stand in for one old release: their verdicts, without their findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from abistore.compare.comparison import compare
from abistore.compare.context import Context
from abistore.compare.diff.patterns.moved_names import surely_moved_exports
from abistore.compare.differences import Differences
from abistore.compare.judge.against import JudgedAgainst
from abistore.compare.judge.alone import JudgedAlone
from abistore.compare.judge.concluding import refuse_strangers
from abistore.model.findings import Comparison, Finding, Impact, Side, Verdict
from abistore.model.names import Facet, Name
from abistore.model.recorded.unrecorded import unlike

if TYPE_CHECKING:
    from abistore.compare.policies.ruling import Ruling
    from abistore.compare.scopes.moves import Move
    from abistore.compare.side import SideFacts

WITNESSES = 3
"""So many declarations that broke one pair are asked first about the next."""


class Replacing:
    """The verdicts about one old release and others, of which each is near the one before.

    No worse verdict than a break can follow: where a declaration that broke the last pair breaks this one too, no
    other is looked at. Everything else is judged as :class:`JudgedAgainst` does, by what differs.
    """

    def __init__(self, old: SideFacts, by: Ruling | None = None) -> None:
        self._old, self._by = old, by
        self._against: JudgedAgainst | None = None
        self._differences = Differences(old)
        self._since: set[Name] = set()
        self.witnesses: tuple[Name, ...] = ()

    def note(self, changed: Collection[Name]) -> None:
        """The next release differs from the last one in what these names are."""
        self._differences.note(changed)
        if self._against is not None:
            self._since.update(changed)

    def verdict(self, new: SideFacts, hints: Iterable[Name] = ()) -> Verdict:
        """The verdict that comparing both releases gives. ``hints`` are names that may break them.

        Raises :class:`abistore.errors.Incomparable` for releases of two targets.
        """
        old = self._old.snapshot
        refuse_strangers(old, new.snapshot)
        if unlike(old.evidence, new.snapshot.evidence):
            return compare(old, new.snapshot, self._by).verdict
        if moves := self._differences.moves(new):
            return self._moved(new, moves)
        context = Context(self._old, new, renames=self._differences.renames(new))
        broken = self._broken_again(context, new, dict.fromkeys((*self.witnesses, *hints)))
        if broken is None:
            return self._judged(new)
        self.witnesses = tuple(dict.fromkeys((broken, *self.witnesses)))[:WITNESSES]
        return Verdict.BREAKING

    def _moved(self, new: SideFacts, moves: Sequence[Move]) -> Verdict:
        """The verdict about a release of which names are others: without a look at the rest where that breaks it."""
        context = Context(self._old, new, differing=self._differences.of(new), moves=moves)
        if _breaks(JudgedAlone(context, self._by).judged(surely_moved_exports(context))):
            return Verdict.BREAKING
        return compare(self._old.snapshot, new.snapshot, self._by).verdict

    def _broken_again(self, context: Context, new: SideFacts, names: Collection[Name]) -> Name | None:
        """The first of ``names`` that breaks this pair."""
        if not names:
            return None
        alone, exported = JudgedAlone(context, self._by), []
        for name in names:
            if any(self._differ(new, facet, name) for facet in alone.facets) and _breaks(alone.declared(name)):
                return name
            if self._differ(new, "symbol", name):
                exported.append(name)
        return next((name for name in exported if _breaks(alone.about(name))), None)

    def _differ(self, new: SideFacts, facet: Facet, name: Name) -> bool:
        return self._old.variants(facet, name) != new.variants(facet, name)

    def _judged(self, new: SideFacts) -> Verdict:
        differs = self._differences.of(new)
        if self._against is None:
            suppressing = self._by is not None and bool(self._by.suppressions.entries)
            self._against = JudgedAgainst(self._old, self._by, folded=suppressing)
        found = self._against.judge(new, self._since, differs, (_named(self._old), _named(new)))
        self._since = set()
        if found.verdict is Verdict.BREAKING:
            self.witnesses = tuple(dict.fromkeys(each.name for each in _breaking(found)))[:WITNESSES]
        return found.verdict


def _breaking(found: Comparison) -> Iterator[Finding]:
    """The breaks: what the declarations themselves show comes first, which is asked again at the least cost."""
    breaks = [each for each in found.findings if each.impact is Impact.BREAKING]
    yield from sorted(breaks, key=lambda each: each.facet == "symbol")


def _breaks(found: Iterable[Finding]) -> bool:
    return any(each.impact is Impact.BREAKING for each in found)


def _named(side: SideFacts) -> Side:
    """A side by its name: nobody asks a verdict for a digest, which takes a look at the whole release."""
    snapshot = side.snapshot
    return Side(snapshot.library, snapshot.version, "", str(snapshot.target), None, snapshot.evidence, 0)
