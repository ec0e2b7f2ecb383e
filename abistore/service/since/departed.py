"""What came or changed between two releases and is gone or another since: programs of that time still load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from abistore.model.findings import Comparison, Impact
from abistore.model.history import Release
from abistore.model.judging.standing import is_supported
from abistore.model.names import EXPORTS, SELF, Name
from abistore.model.words.counting import counted
from abistore.report.wording import named
from abistore.service.history.several import listed
from abistore.service.listing import promised
from abistore.service.since.stepping import Broken, LineStep, StepBreaks, broken_by, steps_of

if TYPE_CHECKING:
    from abistore.store.history.lifetimes import Lifetimes
    from abistore.store.history.walking import LineWalk

MOST_MEASURED = 16
"""A release is measured by so many releases that were the last before a break, and so many steps are asked what they
broke; by the latest ones."""

Compared: TypeAlias = Callable[[Release, Release], Comparison | None]
"""What is found about two releases; ``None`` where nothing could be judged."""


class Departed(NamedTuple):
    """A declaration that programs of ``first`` to ``last`` may use, and that the asked release breaks.

    It is an export that the release ``gone`` removed, or what ``gone`` ``changed``.
    """

    name: Name
    first: Release
    last: Release
    gone: Release
    changed: bool = False


class Departures(NamedTuple):
    """What departed, in the order of the last releases with it, and further releases that broke the one before."""

    found: tuple[Departed, ...]
    unread: Collection[Release] = ()


class AskedRelease(NamedTuple):
    """A release with those of which another must be found no worse: they are ``covered`` by verdicts anyhow.

    ``known`` tells what these verdicts break.
    """

    release: Release
    covered: Collection[Release]
    known: Callable[[], Broken]


class DepartureFinder:
    """Finds what departed, for any release of one line, of which ``walk`` reads entries; ``releases`` are in order.

    ``steps`` tells what a release breaks of an earlier one. The latest ``most`` of these are looked at.
    """

    def __init__(
        self, walk: LineWalk, releases: Sequence[Release], steps: StepBreaks, *, most: int = MOST_MEASURED
    ) -> None:
        self._walk, self._releases, self._steps, self._most = walk, releases, steps, most
        self._places = {release.sequence: place for place, release in enumerate(releases)}

    def before(self, asked: AskedRelease, start: Release | None = None) -> Departures:
        """What departed since ``start``: by default since the first supported release of the same name.

        Programs record the SONAME, or the name of the file where there is none. Releases of another name, those that
        nobody supports, and builds between releases are left out.
        """
        among = self._loading(asked.release, start)
        if len(among) < 3 and not (len(among) == 2 and among[0] not in asked.covered):
            return Departures(())
        gone = self._exports(among, asked)
        changed, unread = self._changes(among, asked, {each.name for each in gone})
        order = sorted((*gone, *changed), key=lambda each: (self._places[each.last.sequence], each.changed, each.name))
        latest = last_with(order)[-max(self._most, MOST_MEASURED) :]
        beyond = (each.gone for each in order if each.last not in latest)
        return Departures(tuple(each for each in order if each.last in latest), frozenset((*unread, *beyond)))

    def _loading(self, release: Release, start: Release | None) -> list[Release]:
        """The releases from the first one on whose programs load ``release``, and itself."""
        begin = self._places[start.sequence] + 1 if start else 0
        between = self._releases[begin : self._places[release.sequence]]
        loading = [each for each in between if each.recorded_name == release.recorded_name and is_supported(each)]
        return [*([start] if start else []), *promised(loading), release]

    def _exports(self, among: Sequence[Release], asked: AskedRelease) -> list[Departed]:
        """The exports that came after the first release and went: from entries alone."""
        ends = (self._places[each.sequence] for each in (among[0], among[-1]))
        found = self._exported.short_lived("symbol", *ends, among=self._bits(among))
        names = self._walk.named(found)
        return [
            Departed(names[row], self._releases[first], self._releases[last], self._releases[gone])
            for row, (first, last, gone) in found.items()
            if names[row].kind in EXPORTS and self._releases[last] not in asked.covered
        ]

    def _changes(
        self, among: Sequence[Release], asked: AskedRelease, gone: Collection[Name]
    ) -> tuple[list[Departed], tuple[Release, ...]]:
        """What single steps broke, and the releases of further ones that broke something; the latest are looked at."""
        every = (step for step in reversed(steps_of(among)) if among[step.before] not in asked.covered)
        broke = [step for step in every if self._steps.broke(among[step.before], among[step.after])]
        known = asked.known() if broke else {}
        found = list[Departed]()
        for step in broke[: self._most]:
            names = self._steps.broken(among[step.before], among[step.after])
            worse = [name for name, impact in names.items() if name not in gone and _is_worse(impact, name, known)]
            found.extend(self._runs(among, step, worse))
        return found, tuple(among[step.after] for step in broke[self._most :])

    def _runs(self, among: Sequence[Release], step: LineStep, names: Collection[Name]) -> Iterator[Departed]:
        """The releases up to a step that have declarations as they were, unless the last one has them so again."""
        last, gone = among[step.before], among[step.after]
        lives = self._walk.lifetimes_of(names, self._releases) if names else None
        alike = lives.alike(names, self._places[last.sequence]) if lives else {}
        for name in names:
            first, same = step.before, alike.get(name, 0) if name != SELF else 0
            if same >> self._places[among[-1].sequence] & 1:
                continue
            while first > 1 and same >> self._places[among[first - 1].sequence] & 1:
                first -= 1
            yield Departed(name, among[first], last, gone, changed=True)

    def _bits(self, among: Sequence[Release]) -> int:
        return sum(1 << self._places[each.sequence] for each in among)

    @cached_property
    def _exported(self) -> Lifetimes:
        return self._walk.lifetimes_in("symbol", self._releases)


def _is_worse(impact: Impact, name: Name, known: Broken) -> bool:
    return impact > known.get(name, Impact.COMPATIBLE)


def last_with(departed: Sequence[Departed]) -> tuple[Release, ...]:
    """The releases that were the last with something of it, in release order."""
    return tuple(dict.fromkeys(each.last for each in departed))


def needed(departed: Sequence[Departed], last: Release, found: Comparison | None, known: Broken) -> list[Departed]:
    """What departed with the release ``last``, and breaks somebody outside the library worse than is ``known``."""
    broken = broken_by(found)
    return [
        each
        for each in departed
        if each.last == last and each.name in broken and _is_worse(broken[each.name], each.name, known)
    ]


def lacks(asked: AskedRelease, departures: Departures, compared: Compared) -> Iterator[str]:
    """The sentences about what a release lacks: "1.3 lacks g, which came with 1.1 and went with 1.2".

    What nobody outside the library can need breaks nothing, and is not told.
    """
    groups: dict[tuple[Release, Release, Release, bool], list[str]] = {}
    known = asked.known() if departures.found else {}
    for last in last_with(departures.found):
        for each in needed(departures.found, last, compared(last, asked.release), known):
            groups.setdefault(each[1:], []).append(named(each.name.spelling))
    for group, names in groups.items():
        yield _lack(asked.release.version, group, names)
    if departures.unread:
        broke = f"{counted(len(departures.unread), 'earlier release')} broke the one before"
        yield f"{broke}: `abistore blame --restored` tells whose programs that left behind"


def _lack(version: str, group: tuple[Release, Release, Release, bool], names: Sequence[str]) -> str:
    first, last, gone, changed = group
    built = first.version if first == last else f"{first.version} to {last.version}"
    them = "it" if len(names) == 1 else "them"
    if changed:
        return f"{version} breaks {listed(names)} for programs built against {built}: {gone.version} changed {them}"
    came = f"came with {first.version} and went with {gone.version}"
    return f"{version} lacks {listed(names)}, which {came}: programs built against {built} may need {them}"
