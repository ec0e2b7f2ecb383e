"""Which release introduced each break that stands now, and which breaks were taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.model.findings import Comparison, Finding, Impact, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.judging.identity import identified, identity, place
from abistore.report.model import ReportedFinding
from abistore.report.outline import reported
from abistore.service.database import Database, using
from abistore.service.history.consecutive import ConsecutiveJudge
from abistore.service.since.departed import MOST_MEASURED, AskedRelease, DepartureFinder, last_with
from abistore.service.since.line import AskedLine, DatedRelease, asked_lines, dated
from abistore.service.since.probing import BREAKS, Probes, last_onset
from abistore.service.since.stepping import StepJudge, broken_by, steps_at_once

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


MOST_JUDGED = 10_000
"""Releases of so many declarations are judged for what they broke of the one before, unless all is asked for."""


class BlamedBreak(msgspec.Struct, frozen=True):
    """A break that stands, with the release that introduced it.

    Since ``introduced``, every release that was asked breaks this place of the declaration in this way; ``last_good``,
    the release before, does not. ``as_now_since``: the values were others at first, and are what they are since then.
    ``not_observed`` are releases between the two whose evidence cannot show it.
    """

    change: ReportedFinding
    introduced: DatedRelease
    last_good: DatedRelease
    as_now_since: DatedRelease | None = None
    not_observed: tuple[str, ...] = ()


class RestoredBreak(msgspec.Struct, frozen=True):
    """A break that ``introduced`` brought and ``restored`` took back."""

    change: ReportedFinding
    introduced: DatedRelease
    restored: DatedRelease


class ShortLivedBreak(msgspec.Struct, frozen=True):
    """A break that programs built against the base do not meet, and those built against ``first`` to ``last`` do.

    An export came after the base and is gone, or a declaration was another for a while. ``introduced`` took it away.
    """

    change: ReportedFinding
    first: DatedRelease
    last: DatedRelease
    introduced: DatedRelease


class Blame(msgspec.Struct, frozen=True):
    """What the latest release of a line breaks of ``base``, and since when.

    The ``breaks`` that stand longest come first. ``restored`` are breaks that came and went since then: exports that
    were gone for a while, and with ``all_restored`` all others. ``reverted`` counts declarations that are as in
    ``base``, and were not between. ``short_lived`` are breaks of what came after ``base`` or was another for a
    while: those of programs built against a release between. ``unjudged`` counts the steps between that nobody judged
    or looked at.
    """

    line: LineKey
    base: DatedRelease
    latest: DatedRelease
    soname: str | None
    verdict: Verdict
    breaks: tuple[BlamedBreak, ...]
    restored: tuple[RestoredBreak, ...] = ()
    all_restored: bool = False
    reverted: int = 0
    short_lived: tuple[ShortLivedBreak, ...] = ()
    unjudged: int = 0


def blame(
    library: str,
    *,
    since: str | None = None,
    restored: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> tuple[Blame, ...]:
    """Each break of the latest release, in each line of a library, with the release that introduced it.

    Breaks are those of programs built against ``since``: a version, ``baseline`` or ``baseline:CHANNEL``; by default
    the first release with the SONAME of the latest one. With ``restored``, every release between is judged for breaks
    that were taken back. Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    with using(database) as store, store.reading():
        lines = tuple(asked_lines(store, library, since, target, profile))
        return tuple(_blame(store, line, by, restored) for line in lines)


def _blame(store: Store, line: AskedLine, by: Ruling | None, restored: bool) -> Blame:
    probes = Probes(store, line, by)
    comparison = probes.latest()
    found = [(called, each) for called, each in identified(comparison.findings) if each.impact in BREAKS]
    turns = probes.meet({each.name for _, each in found})
    ordered = sorted(found, key=lambda item: (-(turns.get(item[1].name) or [0])[-1], item[1].name))
    blamed = {called: _blamed(probes, (called, each), turns.get(each.name, ())) for called, each in ordered}
    order = {dated(release): number for number, release in enumerate(line.releases)}
    breaks = sorted((blamed[called] for called, _ in found), key=lambda each: order[each.introduced])
    taken_back = tuple(_every_restored(store, line, by) if restored else _exports_restored(probes))
    reverted = probes.lifetimes.reverted(line.start)
    short_lived, unjudged = _short_lived(store, probes, comparison, by, restored)
    return Blame(
        line.key,
        dated(line.base),
        dated(line.releases[-1]),
        line.releases[-1].soname,
        comparison.verdict,
        tuple(breaks),
        taken_back,
        restored,
        reverted,
        short_lived,
        unjudged,
    )


def _blamed(probes: Probes, found: tuple[str, Finding], turns: Sequence[int]) -> BlamedBreak:
    called, finding = found
    places, releases = probes.observed(finding.facet), probes.line.releases
    at = last_onset(places, turns, _asking(probes, finding, place))
    now = last_onset(places, turns, _asking(probes, finding, identity))
    between = releases[places[at - 1] + 1 : places[at]]
    return BlamedBreak(
        reported(finding, called),
        dated(releases[places[at]]),
        dated(releases[places[at - 1]]),
        dated(releases[places[now]]) if now > at else None,
        tuple(each.version for each in between),
    )


def _asking(probes: Probes, finding: Finding, called: Callable[[Finding], bytes]) -> Callable[[int], bool]:
    """Asks releases whether they have a break that is called as ``finding`` is."""
    wanted = called(finding)
    return lambda at: any(called(each) == wanted for each in probes.breaks(at, finding.name))


def _exports_restored(probes: Probes) -> Iterator[RestoredBreak]:
    """The exports that were gone for a while, of which programs could not run."""
    releases = probes.line.releases
    gaps = probes.lifetimes.gaps("symbol", probes.line.start)
    for name, runs in sorted(gaps.items()):
        for begins, ends in runs:
            for called, finding in identified(probes.breaks(begins, name)):
                yield RestoredBreak(reported(finding, called), dated(releases[begins]), dated(releases[ends]))


def _short_lived(
    store: Store, probes: Probes, comparison: Comparison, by: Ruling | None, restored: bool
) -> tuple[tuple[ShortLivedBreak, ...], int]:
    """What the latest release breaks for programs built against releases after the base alone.

    Without ``restored`` the latest releases that broke the one before are looked at, and the others are counted: fewer
    where the base is broken anyway, and two of the largest library. The probes are of no use any more after this.
    """
    line, known = probes.line, broken_by(comparison)
    latest, most = line.releases[-1], len(line.releases) ** 2
    if not restored:
        broken = comparison.verdict is Verdict.BREAKING
        judged = MOST_JUDGED // 4 if broken else MOST_JUDGED
        most = min(MOST_MEASURED, steps_at_once(line.base.declarations, judged))
    steps = StepJudge(store, line.key, by, most=most, walk=probes.walk)
    finder = DepartureFinder(probes.walk, line.releases, steps, most=most)
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


def _every_restored(store: Store, line: AskedLine, by: Ruling | None) -> Iterator[RestoredBreak]:
    """All breaks that came and went. A release that cannot be judged says nothing."""
    judge, standing = ConsecutiveJudge(store, by), dict[bytes, _Run]()
    found: list[RestoredBreak] = []
    for release in line.releases[line.start + 1 :]:
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
