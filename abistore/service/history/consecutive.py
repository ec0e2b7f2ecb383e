"""Judging the releases of a line one after the other, each at the cost of what differs from the one before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from abistore.errors import DamagedStore, Incomparable, InputError
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.history import Release, StoredVerdict
from abistore.model.names import Name
from abistore.model.recorded.common_ground import common_ground
from abistore.model.recorded.unrecorded import unlike
from abistore.model.snapshot import Snapshot
from abistore.service.history.sides import SideWalk
from abistore.service.history.verdicts import given_now
from abistore.service.judging.judging import churn, concluded

if TYPE_CHECKING:
    from abistore.compare.differing import Differing
    from abistore.compare.judge.against import JudgedAgainst
    from abistore.compare.side import SideFacts
    from abistore.service.judging.ruling import Ruling
    from abistore.store.history.walking import LineWalk
    from abistore.store.store import Store


class ConsecutiveJudge:
    """Judges releases of one line against the one before, and against a baseline.

    One pair is in memory at a time. After a failure the next release is judged from scratch. ``damaged`` says that the
    stored data of a release were damaged. A ``walk`` that nobody else uses any more is gone on with.
    """

    def __init__(self, store: Store, by: Ruling | None, walk: LineWalk | None = None) -> None:
        self._store = store
        self._walk = walk
        self._by = by
        self._base: tuple[Release, SideFacts] | None = None
        self.damaged = False
        self._forget()

    def _forget(self) -> None:
        walk, self._walk = self._walk, None
        self._sides = SideWalk(self._store, walk)
        self._from_base: Differing | None = None
        self._forget_baseline()

    def _forget_baseline(self) -> None:
        self._against: JudgedAgainst | None = None
        self._since: set[Name] = set()

    def beside(self, old: Release, new: Release) -> StoredVerdict | str:
        """The verdict about a release and the one before it, or why there is none."""
        from abistore.compare.context import Context
        from abistore.compare.differing import differing
        from abistore.compare.judge.whole import compared

        try:
            before, after = self._go(old), self._go(new)
            if unlike(old.evidence, new.evidence):
                return self._by_itself((old, before.snapshot), (new, after.snapshot))
            names = differing(before.snapshot, after.snapshot, self._sides.changed)
            context = Context(before, after, differing=names, cards=(old.side, new.side))
            with _bounded(before.snapshot, after.snapshot):
                comparison = compared(context, self._by)
        except (InputError, Incomparable, DamagedStore) as error:
            return self._failed(error)
        return given_now(old, new, comparison, churn(before.snapshot, after.snapshot, names))

    def against(self, base: Release, new: Release) -> StoredVerdict | str:
        """The verdict about a release and a baseline, or why there is none. Fastest in release order."""
        from abistore.compare.judge.against import JudgedAgainst

        try:
            old, after = self._go_to_base(base), self._go(new)
            if unlike(base.evidence, new.evidence):
                return self._by_itself((base, old.snapshot), (new, after.snapshot))
            names = self._differing_from(old, after)
            if self._against is None:
                self._against = JudgedAgainst(old, self._by)
            with _bounded(old.snapshot, after.snapshot):
                comparison = self._against.judge(after, self._since, names, (base.side, new.side))
            self._since = set()
        except (InputError, Incomparable, DamagedStore) as error:
            return self._failed(error)
        return given_now(base, new, comparison, churn(old.snapshot, after.snapshot, names))

    def sides(self, old: Release, new: Release) -> tuple[SideFacts, SideFacts]:
        """Both releases, without the facts that the other does not record."""
        from abistore.compare.side import SideFacts

        before, after = self._sides.go(old), self._sides.go(new)
        if unlike(old.evidence, new.evidence):
            first, last = common_ground(before.snapshot, after.snapshot)
            return SideFacts(first), SideFacts(last)
        return before, after

    def _by_itself(self, old: tuple[Release, Snapshot], new: tuple[Release, Snapshot]) -> StoredVerdict:
        """The verdict about two releases, of which one records facts that the other does not.

        Nothing is taken on from one pair to the next: what both can say is another thing each time.
        """
        comparison, churned = concluded(old[1], new[1], self._by)
        return given_now(old[0], new[0], comparison, churned)

    def _go(self, release: Release) -> SideFacts:
        """What is known of a release; derived from the release before, which stays as it is."""
        if self._sides.at(release):
            return self._sides.go(release)
        side = self._sides.go(release)
        self._since |= self._sides.changed
        return side

    def _go_to_base(self, base: Release) -> SideFacts:
        if self._base is None or self._base[0] != base:
            self._base = base, self._go(base)
            self._from_base = None
            self._forget_baseline()
        return self._base[1]

    def _differing_from(self, base: SideFacts, new: SideFacts) -> Differing:
        """The names in which ``new`` differs from the baseline. Only what changed since last time is looked at."""
        from abistore.compare.differing import differing, renewed

        if self._from_base is None:
            self._from_base = differing(base.snapshot, new.snapshot)
        else:
            self._from_base = renewed(self._from_base, base.snapshot, new.snapshot, self._since)
        return self._from_base

    def _failed(self, error: InputError | Incomparable | DamagedStore) -> str:
        self.damaged = self.damaged or isinstance(error, DamagedStore)
        self._forget()
        return error.message


@contextmanager
def _bounded(old: Snapshot, new: Snapshot) -> Iterator[None]:
    with limits_for(old.weight + new.weight, f"judging {new.label} against {old.label}"), without_cycle_collection():
        yield
