"""Exports that came and went under one SONAME, and the last releases that had them: their programs still load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from abistore.model.findings import Comparison
from abistore.model.history import Release
from abistore.model.names import EXPORTS, Name
from abistore.model.words.counting import counted
from abistore.report.wording import named
from abistore.service.history.several import listed
from abistore.service.since.probing import broken_names

if TYPE_CHECKING:
    from abistore.store.history.lifetimes import Lifetimes
    from abistore.store.store import Store

MOST_MEASURED = 16
"""A release is measured by so many releases that were the last with exports; by the latest ones."""

Compared: TypeAlias = Callable[[Release, Release], Comparison | None]
"""What is found about two releases; ``None`` where nothing could be judged."""


class DepartedExport(NamedTuple):
    """An export that neither the first release with the SONAME has, nor the one that is asked for.

    Programs built against ``first`` to ``last`` may need it; ``gone`` is the release without it.
    """

    name: Name
    first: Release
    last: Release
    gone: Release


class Departures:
    """The exports of one line that came and went, for any of its ``releases``, which are in release order."""

    def __init__(self, store: Store, releases: Sequence[Release]) -> None:
        self._releases = releases
        self._walk = store.walk()
        self._places = {release.sequence: place for place, release in enumerate(releases)}

    def before(self, release: Release) -> tuple[DepartedExport, ...]:
        """What came after the first release with the SONAME of ``release`` and went before the one before it."""
        place = self._places[release.sequence]
        start = next(at for at, each in enumerate(self._releases) if each.soname == release.soname)
        if release.soname is None or place - start < 2:
            return ()
        found = self._lives.short_lived("symbol", start, place)
        names = self._walk.named(found)
        every = (
            DepartedExport(names[row], *(self._releases[at] for at in places))
            for row, places in found.items()
            if names[row].kind in EXPORTS and places[1] != place - 1
        )
        return tuple(sorted(every, key=lambda each: (self._places[each.last.sequence], each.name)))

    @cached_property
    def _lives(self) -> Lifetimes:
        return self._walk.lifetimes_in("symbol", self._releases)


def last_with(departed: Sequence[DepartedExport]) -> tuple[Release, ...]:
    """The latest releases that were the last with some of the exports, in release order."""
    return tuple(dict.fromkeys(each.last for each in departed))[-MOST_MEASURED:]


def needed(departed: Sequence[DepartedExport], last: Release, found: Comparison | None) -> list[DepartedExport]:
    """The exports whose last release is ``last``, and that somebody outside the library may need."""
    broken = broken_names(found.findings) if found else ()
    return [each for each in departed if each.last == last and each.name in broken]


def lacks(release: Release, departed: Sequence[DepartedExport], compared: Compared) -> Iterator[str]:
    """The sentences about exports that a release lacks: "1.3 lacks g, which came with 1.1 and went with 1.2".

    An export that nobody outside the library can need breaks nothing, and is not told.
    """
    measured = last_with(departed)
    groups: dict[tuple[Release, Release, Release], list[str]] = {}
    for last in measured:
        for each in needed(departed, last, compared(last, release)):
            groups.setdefault((each.first, each.last, each.gone), []).append(named(each.name.spelling))
    for (first, last, gone), names in groups.items():
        built = first.version if first == last else f"{first.version} to {last.version}"
        came = f"came with {first.version} and went with {gone.version}"
        yield f"{release.version} lacks {listed(names)}, which {came}: programs built against {built} may need it"
    yield from _unmeasured(departed, measured)


def _unmeasured(departed: Sequence[DepartedExport], measured: Collection[Release]) -> Iterator[str]:
    more = sum(each.last not in measured for each in departed)
    if more:
        yield f"{counted(more, 'more export')} came and went: `abistore blame --restored` judges what that broke"
