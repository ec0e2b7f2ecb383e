"""Stretches of storage, and which of them others lie in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TypeAlias

Extent: TypeAlias = tuple[int, int]
"""The first bit of some storage and the first behind it."""


class Extents:
    """Some storage, joined where it touches, so that a look at it costs no more for many fields."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        self._joined: list[Extent] = []
        for start, end in sorted(extents):
            if self._joined and start <= self._joined[-1][1]:
                self._joined[-1] = self._joined[-1][0], max(end, self._joined[-1][1])
            else:
                self._joined.append((start, end))
        self._starts = [start for start, _ in self._joined]

    def cover(self, own: Extent) -> bool:
        """Whether all of ``own`` is in this storage."""
        index = bisect_right(self._starts, own[0])
        return index > 0 and own[1] <= self._joined[index - 1][1]

    def meet(self, own: Extent) -> bool:
        """Whether some of ``own`` is in this storage."""
        index = bisect_left(self._starts, own[1])
        return index > 0 and own[0] < self._joined[index - 1][1]
