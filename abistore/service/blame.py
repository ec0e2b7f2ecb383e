"""Which release introduced each break that still applies, and which breaks were taken back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from abistore.model.declarations import EXPORTS, SELF, Name
from abistore.model.findings import Comparison, Finding, Impact, Verdict, identified, identity, place
from abistore.model.history import Release
from abistore.model.statements import is_supported
from abistore.model.words import counted
from abistore.report.outline import reported
from abistore.report.since import Blame, BlamedBreak, EarlierBreak, RestoredBreak, ShortLivedBreak
from abistore.report.wording import named
from abistore.service.binding import ruling_of_line
from abistore.service.bisect import (
    BREAKS,
    AskedLine,
    Broken,
    LineStep,
    Probes,
    StepBreaks,
    StepJudge,
    asked_lines,
    broken_by,
    last_onset,
    steps_at_once,
    steps_of,
)
from abistore.service.commits import NOWHERE, Commits, CommitSource
from abistore.service.database import Database, using
from abistore.service.listing import promised
from abistore.service.verdicts import ConsecutiveJudge, listed

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.walking import Lifetimes, LineWalk

MOST_MEASURED = 16
"""A release is measured by so many releases that were the last before a break, and so many steps are asked what they
broke; by the latest ones."""

Compared: TypeAlias = Callable[[Release, Release], Comparison | None]
"""What is found about two releases; ``None`` where nothing could be judged."""


class Departed(NamedTuple):
    """A declaration that programs of ``first`` to ``last`` may use, and that the asked release breaks.

    Release ``gone`` removed the export, or ``changed`` the declaration.
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
    """The sentences about what a release lacks: "1.3 lacks g, which 1.1 added and 1.2 removed".

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
        broke = f"{counted(len(departures.unread), 'earlier release')} broke the previous one"
        yield f"{broke}: `abistore blame --restored` shows the affected programs"


def _lack(version: str, group: tuple[Release, Release, Release, bool], names: Sequence[str]) -> str:
    first, last, gone, changed = group
    built = first.version if first == last else f"{first.version} to {last.version}"
    them = "it" if len(names) == 1 else "them"
    if changed:
        return f"{version} breaks {listed(names)} for programs built against {built}: {gone.version} changed {them}"
    came = f"{first.version} added and {gone.version} removed"
    return f"{version} lacks {listed(names)}, which {came}: programs built against {built} may need {them}"


MOST_JUDGED = 10_000
"""Releases of so many declarations are judged for what they broke of the one before, unless all is asked for."""


def blame(
    library: str,
    *,
    since: str | None = None,
    restored: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    commits: CommitSource = NOWHERE,
) -> tuple[Blame, ...]:
    """Each break of the latest release, in each line of a library, with the build that introduced it.

    ``library`` may name one release, ``libfoo@1.2.0``: its breaks are those that are asked for. Breaks are those of
    programs built against ``since``: a version, ``baseline`` or ``baseline:CHANNEL``; by default the first release with
    the SONAME of the asked one. Builds between releases and candidates count, too. With ``restored``, every release
    between is judged for breaks that were taken back. ``commits`` says where commits are looked up. Raises
    :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    with using(database) as store, store.reading():
        told = Commits(commits)
        lines = tuple(asked_lines(store, library, since, target, profile))
        asked = tuple(_BlamedLine(store, one, ruling_of_line(store, one.key, one.releases, by), told) for one in lines)
        return tuple(_blame(each, restored=restored, earlier=since is None) for each in asked)


class _BlamedLine(NamedTuple):
    """A line that is asked for its breaks."""

    store: Store
    line: AskedLine
    by: Ruling | None
    commits: Commits


def _blame(asked: _BlamedLine, *, restored: bool, earlier: bool) -> Blame:
    store, line, by, commits = asked
    probes = Probes(store, line, by)
    comparison = probes.latest()
    breaks = _breaks(probes, comparison, commits)
    taken_back = tuple(_every_restored(asked) if restored else _exports_restored(probes, commits))
    reverted = probes.walk.lifetimes(line.releases).reverted(line.releases.index(line.base))
    short_lived, unjudged = _short_lived(asked, probes, comparison, restored)
    return Blame(
        line.key,
        commits.dated(line.base),
        commits.dated(line.last),
        line.last.soname,
        comparison.verdict,
        breaks,
        taken_back,
        restored,
        reverted,
        short_lived,
        unjudged,
        tuple(_earlier(asked)) if earlier and line.last.soname else (),
    )


def _breaks(probes: Probes, comparison: Comparison, commits: Commits) -> tuple[BlamedBreak, ...]:
    found = [(called, each) for called, each in identified(comparison.findings) if each.impact in BREAKS]
    turns = probes.meet({each.name for _, each in found})
    ordered = sorted(found, key=lambda item: (-(turns.get(item[1].name) or [0])[-1], item[1].name))
    origins = {called: _origin(probes, each, turns.get(each.name, ())) for called, each in ordered}
    every = sorted(found, key=lambda item: origins[item[0]].seen)
    return tuple(_blamed(probes, item, origins[item[0]], commits) for item in every)


class _Origin(NamedTuple):
    """The places of a break's first build, of the good one before, and of releases: those before and with it, and that
    since which it is as it is now."""

    good: int
    seen: int
    before: int
    at: int
    now: int


def _origin(probes: Probes, finding: Finding, turns: Sequence[int]) -> _Origin:
    places, holds = probes.observed(finding.facet), _asking(probes, finding, place)
    at = last_onset(places, turns, holds)
    now = last_onset(places, turns, _asking(probes, finding, identity))
    good, seen = probes.origin(finding.facet, (places[at - 1], places[at]), turns, holds)
    return _Origin(good, seen, places[at - 1], places[at], places[now])


def _blamed(probes: Probes, found: tuple[str, Finding], origin: _Origin, commits: Commits) -> BlamedBreak:
    called, finding = found
    builds, places = probes.line.builds, probes.observed(finding.facet)
    released = next((place for place in places if place >= origin.at and probes.is_released(place)), None)
    between = builds[origin.before + 1 : origin.at]
    return BlamedBreak(
        reported(finding, called),
        commits.dated(builds[origin.seen]),
        commits.dated(builds[origin.good]),
        None if released is None else commits.dated(builds[released]),
        commits.dated(builds[origin.now]) if origin.now > origin.at else None,
        tuple(each.version for each in between if not each.candidate),
    )


def _earlier(asked: _BlamedLine) -> Iterator[EarlierBreak]:
    """The releases that broke their previous release under an earlier SONAME: by stored verdicts, or a few new ones."""
    line, commits = asked.line, asked.commits
    before = promised([each for each in line.builds[: line.start] if not each.candidate and is_supported(each)])
    most = steps_at_once(line.base.declarations, MOST_JUDGED)
    steps = StepJudge(asked.store, line.key, asked.by, most=min(MOST_MEASURED, most))
    for old, new in pairwise(before):
        verdict = steps.verdict(old, new) if new.soname and new.soname == old.soname else None
        if new.soname and verdict is not None and verdict >= Verdict.API_BREAK:
            yield EarlierBreak(commits.dated(new), old.version, new.soname, verdict)


def _asking(probes: Probes, finding: Finding, called: Callable[[Finding], bytes]) -> Callable[[int], bool]:
    """Asks releases whether they have a break that is called as ``finding`` is."""
    wanted = called(finding)
    return lambda at: any(called(each) == wanted for each in probes.breaks(at, finding.name))


def _exports_restored(probes: Probes, commits: Commits) -> Iterator[RestoredBreak]:
    line, releases = probes.line, probes.line.releases
    gaps = probes.walk.lifetimes(releases).gaps("symbol", releases.index(line.base))
    for name, runs in sorted(gaps.items()):
        for begins, ends in runs:
            for called, finding in identified(probes.breaks(line.builds.index(releases[begins]), name)):
                introduced, restored = commits.dated(releases[begins]), commits.dated(releases[ends])
                yield RestoredBreak(reported(finding, called), introduced, restored)


def _short_lived(
    asked: _BlamedLine, probes: Probes, comparison: Comparison, restored: bool
) -> tuple[tuple[ShortLivedBreak, ...], int]:
    """What the latest release breaks for programs built against releases after the base alone.

    Without ``restored`` the latest releases that broke the one before are looked at, and the others are counted: fewer
    where the base is broken anyway, and two of the largest library. The probes are of no use any more after this.
    """
    line, releases, known = probes.line, probes.line.releases, broken_by(comparison)
    dated, latest, most = asked.commits.dated, line.last, len(releases) ** 2
    if not restored:
        broken = comparison.verdict is Verdict.BREAKING
        judged = MOST_JUDGED // 4 if broken else MOST_JUDGED
        most = min(MOST_MEASURED, steps_at_once(line.base.declarations, judged))
    steps = StepJudge(asked.store, line.key, asked.by, most=most, walk=probes.walk)
    finder = DepartureFinder(probes.walk, releases, steps, most=most)
    departures = finder.before(AskedRelease(latest, (line.base,), lambda: known), line.base)
    found = list[ShortLivedBreak]()
    for last in reversed(last_with(departures.found)):
        gone = {each.name: each for each in departures.found if each.last == last}
        for called, finding in identified(steps.about(last, latest, gone)):
            if finding.impact > known.get(finding.name, Impact.COMPATIBLE):
                at = gone[finding.name]
                found.append(ShortLivedBreak(reported(finding, called), dated(at.first), dated(last), dated(at.gone)))
    return tuple(found), len(departures.unread) + len(steps.left)


class _Run(NamedTuple):
    """A break that stands while a history is walked, and since when."""

    called: str
    finding: Finding
    since: Release


def _every_restored(asked: _BlamedLine) -> Iterator[RestoredBreak]:
    """All breaks that were introduced and taken back. A release that cannot be judged says nothing."""
    line, dated = asked.line, asked.commits.dated
    judge, standing = ConsecutiveJudge(asked.store, asked.by), dict[bytes, _Run]()
    found: list[RestoredBreak] = []
    for release in line.releases[line.releases.index(line.base) + 1 :]:
        given = judge.against(line.base, release)
        if isinstance(given, str):
            continue
        seen = {place(each): (called, each) for called, each in identified(_every(given.comparison.findings))}
        for key in [key for key in standing if key not in seen]:
            run = standing.pop(key)
            found.append(RestoredBreak(reported(run.finding, run.called), dated(run.since), dated(release)))
        for key, (called, each) in seen.items():
            standing.setdefault(key, _Run(called, each, release))
    yield from sorted(found, key=lambda each: (each.change.symbol, each.change.kind, each.change.id))


def _every(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if finding.impact in BREAKS:
            yield msgspec.structs.replace(finding, consequences=())
        yield from _every(finding.consequences)
