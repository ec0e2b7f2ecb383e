"""What differs from one old release in others, of which each is near the one before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from abistore.compare.context import Renames
from abistore.compare.differing import Differing, differing, renewed
from abistore.compare.scopes.found import may_move, moves_of
from abistore.compare.scopes.moves import Move
from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.reach.graph import DECLARING


class Differences:
    """The names that differ from an old release, kept from one new release to the next.

    Only the names that :meth:`note` tells of are looked at again.
    """

    def __init__(self, old: SideFacts) -> None:
        self._old = old
        self._differing: Differing | None = None
        self._pending: set[Name] = set()
        self._uncompared: set[Name] | None = None
        self._gone: set[Name] = set()
        self._come: set[Name] = set()
        self._unlooked: set[Name] | None = None
        self._left: set[Name] = set()
        self._arrived: set[Name] = set()

    def note(self, changed: Collection[Name]) -> None:
        """The next release differs from the last one in what these names are."""
        self._pending.update(changed)
        for names in (self._uncompared, self._unlooked):
            if names is not None:
                names.update(changed)

    def of(self, new: SideFacts) -> Differing:
        """The names in which a release differs."""
        old = self._old.snapshot
        if self._differing is None:
            self._differing = differing(old, new.snapshot)
        elif self._pending:
            self._differing = renewed(self._differing, old, new.snapshot, self._pending)
        self._pending = set()
        return self._differing

    def moves(self, new: SideFacts) -> Sequence[Move]:
        """The scopes, and the versions in names, that are others in a release."""
        self._compare_names(new)
        return moves_of(self._old.snapshot, new.snapshot, self._left, self._arrived)

    def renames(self, new: SideFacts) -> Renames | None:
        """That no type was renamed, where none went or none came; else it is to be found out."""
        self._compare_types(new)
        return None if self._gone and self._come else Renames({}, {})

    def _compare_names(self, new: SideFacts) -> None:
        """Keep which names went and came that something may have moved: a release without any is asked no more."""
        old = self._old.snapshot
        names = self._unlooked if self._unlooked is not None else frozenset().union(*self.of(new).values())
        for name in names:
            if may_move(name):
                before, after = old.has(name), new.snapshot.has(name)
                (self._left.add if before and not after else self._left.discard)(name)
                (self._arrived.add if after and not before else self._arrived.discard)(name)
        self._unlooked = set()

    def _compare_types(self, new: SideFacts) -> None:
        names: Iterable[Name] = self._uncompared if self._uncompared is not None else self._declared(new)
        for name in names:
            if name.kind in ("record", "enum"):
                before, after = self._old.types.has(name), new.types.has(name)
                (self._gone.add if before and not after else self._gone.discard)(name)
                (self._come.add if after and not before else self._come.discard)(name)
        self._uncompared = set()

    def _declared(self, new: SideFacts) -> Collection[Name]:
        differs = self.of(new)
        return {name for facet in DECLARING for name in differs[facet]}
