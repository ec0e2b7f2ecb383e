"""Going through a line's releases, with what is known of each taken on to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.names import Name

if TYPE_CHECKING:
    from abistore.compare.side import SideFacts
    from abistore.store.history.lifetimes import Lifetimes
    from abistore.store.history.walking import LineWalk
    from abistore.store.store import Store


class SideWalk:
    """Sides of comparisons, of the releases of one line in any order: the nearer to the last one, the cheaper.

    ``changed`` are the names in which the last one differs from the one before, in any facet.
    """

    def __init__(self, store: Store, walk: LineWalk | None = None) -> None:
        self._walk = store.walk() if walk is None else walk
        self._at: tuple[Release, SideFacts] | None = None
        self.changed: frozenset[Name] = frozenset()

    def lifetimes(self, releases: Sequence[Release]) -> Lifetimes:
        """The lives of the names that were met, by the line's releases in release order."""
        return self._walk.lifetimes(releases)

    def at(self, release: Release) -> bool:
        """Whether ``release`` is the last one."""
        return self._at is not None and self._at[0] == release

    def go(self, release: Release) -> SideFacts:
        """What is known of a release; derived from the last one, which stays as it is. Raises :class:`DamagedStore`."""
        from abistore.compare.side import SideFacts

        if self._at is not None and self._at[0] == release:
            return self._at[1]
        step = self._walk.step(release)
        if self._at is None:
            side = SideFacts(step.snapshot, step.files)
        else:
            side = self._at[1].after(step.snapshot, step.changed, step.files)
        self._at, self.changed = (release, side), step.changed
        return side
