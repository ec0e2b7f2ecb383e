"""Since when, until when: the release that broke something, found by few comparisons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import msgspec

from abistore.errors import DamagedStore, Incomparable, InputError, SnapshotNotFound, UsageError
from abistore.limits import limits_for
from abistore.model.declarations import FACETS, SELF, Facet, Name
from abistore.model.findings import (
    ENGINE,
    Comparison,
    Finding,
    Impact,
    Verdict,
    evidence_rank,
    identified,
    identity_of,
    may_begin,
    with_consequences,
)
from abistore.model.format_gaps import common_ground, unlike
from abistore.model.history import LineKey, Release, StoredVerdict, VerdictSummary
from abistore.model.snapshot import Evidence, evidence_of
from abistore.model.structure import without_cycle_collection
from abistore.model.versions import channel_in
from abistore.report.model import ReportedFinding
from abistore.report.outline import reported
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.judging import concluded
from abistore.service.listing import channels_of, lines_of, releases_of
from abistore.service.verdicts import ConsecutiveJudge, given_now, key_of

if TYPE_CHECKING:
    from abistore.diffing.context import Context
    from abistore.diffing.judge.successive import JudgedAlone
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.walking import Lifetimes, LineWalk, WalkStep


class DatedRelease(msgspec.Struct, frozen=True):
    """A release in an answer: what people call it, when it was released, and the source revision that was built."""

    version: str
    date: str
    revision: str | None = None


def dated(release: Release) -> DatedRelease:
    """A release as answers show it."""
    return DatedRelease(release.version, f"{release.released or release.ingested:%Y-%m-%d}", release.revision)


class AskedLine(NamedTuple):
    """A line, its releases in release order, and the place of the one that the question begins at."""

    key: LineKey
    releases: Sequence[Release]
    start: int

    @property
    def base(self) -> Release:
        """The release that the question begins at."""
        return self.releases[self.start]


def asked_lines(
    store: Store, library: str, since: str | None, target: str | None, profile: str | None
) -> Iterator[AskedLine]:
    """The lines of a library, each from ``since`` on.

    That is a version, ``baseline`` or ``baseline:CHANNEL``. Without it a line begins at the first release with the
    SONAME of its latest one: programs that were linked with any of these load the latest. Lines that have no such
    version are left out; raises :class:`UsageError` where none has it.
    """
    keys = lines_of(store, library, target, profile)
    found = []
    for key in keys:
        releases = releases_of(store, key)
        start = _start(store, key, releases, since)
        if start is not None:
            found.append(AskedLine(key, releases, start))
    if not found:
        raise UsageError(f"{library} has no release {since}", f"`abistore list {library}` shows the releases")
    yield from found


def _start(store: Store, key: LineKey, releases: Sequence[Release], since: str | None) -> int | None:
    if since is None:
        soname = releases[-1].soname
        same = (place for place, each in enumerate(releases) if each.soname == soname)
        return next(same) if soname else 0
    channel = channel_in(since)
    version = since if channel is None else channels_of(store, key).get(channel)
    return next((place for place, each in enumerate(releases) if each.version == version), None)


BREAKS = (Impact.API_BREAK, Impact.BREAKING)


def broken_names(findings: Iterable[Finding], facets: Collection[Facet] = FACETS) -> set[Name]:
    """The names of which findings and their consequences break anything, as far as ``facets`` show it."""
    return {each.name for each in _breaking(findings) if each.facet in facets}


def _breaking(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if finding.impact in BREAKS:
            yield finding
        yield from _breaking(finding.consequences)


class Probes:
    """What the releases of a line break, against one base. Each release is judged when it is first asked for.

    Only the asked declarations are judged. Asking releases that are near each other costs least.
    """

    def __init__(self, store: Store, line: AskedLine, by: Ruling | None = None) -> None:
        from abistore.diffing.judge.judged import Differences
        from abistore.diffing.side import SideFacts

        self.line = line
        self._by = by
        self.walk = store.walk()
        self._base = SideFacts(*self.walk.step(line.base)[::2])
        self._differing = Differences(self._base)
        self._at: tuple[int, JudgedAlone] | None = None
        self._found: dict[tuple[int, Name], Sequence[Finding]] = {}
        self._observed: dict[Facet, Sequence[int]] = {}
        self._alike: dict[Name, int] = {}
        self.judged = 0
        """So many releases were looked at."""

    def latest(self) -> Comparison:
        """What comparing the base and the latest release finds."""
        from abistore.diffing.judge.judged import compare, compared

        releases, base = self.line.releases, self._base.snapshot
        context = self._context(len(releases) - 1)
        weight = base.weight + context.new.snapshot.weight
        with limits_for(weight, f"judging {releases[-1].reference}"), without_cycle_collection():
            if context.old is not self._base:
                return compare(base, self._step(len(releases) - 1).snapshot, self._by)
            return compared(context, self._by)

    def meet(self, names: Collection[Name]) -> Mapping[Name, Sequence[int]]:
        """Prepare for questions about names: the places after the base in which each is another than just before.

        In a release in which a name is all that it is in the base, nothing is found about it.
        """
        self.walk.meet(names)
        start = self.line.start
        self._alike |= self.lifetimes.alike([name for name in names if name != SELF], start)
        turns = self.lifetimes.changes(names)
        return {name: [place for place in places if place > start] for name, places in turns.items()}

    def breaks(self, place: int, name: Name) -> Sequence[Finding]:
        """What the release at ``place`` breaks of ``name``."""
        if place == self.line.start or self._alike.get(name, 0) >> place & 1:
            return ()
        key = place, name
        if key not in self._found:
            release = self.line.releases[place]
            alone = self._alone(place)
            with limits_for(release.declarations << 8, f"judging {release.reference}"), without_cycle_collection():
                self._found[key] = tuple(each for each in alone.about(name) if each.impact in BREAKS)
        return self._found[key]

    @cached_property
    def lifetimes(self) -> Lifetimes:
        """The lives of the names that were met."""
        return self.walk.lifetimes(self.line.releases)

    def shown(self, facet: Facet) -> bool:
        """Whether the base and the latest release show anything of a facet."""
        return min(_rank(self.line.base, facet), _rank(self.line.releases[-1], facet)) > 0

    def observed(self, facet: Facet) -> Sequence[int]:
        """The places from the base on that show as much of a facet as the base and the latest release both do."""
        if facet not in self._observed:
            self._observed[facet] = self._observing(facet)
        return self._observed[facet]

    def _observing(self, facet: Facet) -> Sequence[int]:
        releases = self.line.releases
        rank = min(_rank(self.line.base, facet), _rank(releases[-1], facet))
        later = (place for place in range(self.line.start + 1, len(releases)) if _rank(releases[place], facet) >= rank)
        return [self.line.start, *later]

    def _alone(self, place: int) -> JudgedAlone:
        from abistore.diffing.judge.successive import JudgedAlone

        if self._at is None or self._at[0] != place:
            self._at = place, JudgedAlone(self._context(place), self._by)
            self.judged += 1
        return self._at[1]

    def _step(self, place: int) -> WalkStep:
        step = self.walk.step(self.line.releases[place])
        self._differing.note(step.changed)
        return step

    def _context(self, place: int) -> Context:
        """The base and another release under its names, each without the facts that the other does not record."""
        from abistore.diffing.context import Context
        from abistore.diffing.judge.judged import aligned_context, refuse_strangers
        from abistore.diffing.side import SideFacts

        release = self.line.releases[place]
        step = self._step(place)
        base, side = self._base, SideFacts(step.snapshot, step.files)
        refuse_strangers(base.snapshot, side.snapshot)
        if unlike(base.snapshot.evidence, side.snapshot.evidence):
            return aligned_context(Context(*map(SideFacts, common_ground(base.snapshot, side.snapshot))))
        differs, renames = self._differing.of(side), self._differing.renames(side)
        cards = self.line.base.side, release.side
        return aligned_context(Context(base, side, differing=differs, renames=renames, cards=cards))


def _rank(release: Release, facet: Facet) -> int:
    found = next((each for each in release.evidence if each.facet == facet), Evidence(facet, "missing"))
    return evidence_rank(found)


def last_onset(places: Sequence[int], turns: Iterable[int], holds: Callable[[int], bool]) -> int:
    """The index in ``places`` at which what holds at the last of them began to hold.

    It holds there, and not at the place before: both were asked. Between two ``turns`` something may begin or end once
    at most, without a look at every place.
    """
    starts = [index for index in _starts(places, turns) if index > 0]
    high = len(places) - 1
    for start in (*reversed(starts), 1):
        if start > high:
            continue
        if not holds(places[start]):
            return _between(places, start, high, holds)
        high = start
        if start == 1 or not holds(places[start - 1]):
            return start
        high = start - 1
    return high


def first_onset(places: Sequence[int], turns: Iterable[int], holds: Callable[[int], bool]) -> int | None:
    """The first index in ``places`` at which something holds that did not at the place before; ``None`` if none.

    What is asked for is as in :func:`last_onset`.
    """
    starts = sorted({1, *(index for index in _starts(places, turns) if index > 0)})
    for start, end in zip(starts, [*starts[1:], len(places)], strict=True):
        if start >= len(places):
            break
        if holds(places[start]):
            return start
        if end - 1 > start and holds(places[end - 1]):
            return _between(places, start, end - 1, holds)
    return None


def _starts(places: Sequence[int], turns: Iterable[int]) -> list[int]:
    """The indices in ``places`` of the first one at or after each turn."""
    from bisect import bisect_left

    return sorted({index for index in (bisect_left(places, turn) for turn in turns) if index < len(places)})


def _between(places: Sequence[int], low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The index of a beginning between ``low``, where it does not hold, and ``high``, where it does."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(places[middle]):
            high = middle
        else:
            low = middle
    return high


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
        from abistore.diffing.context import RULES, Context
        from abistore.diffing.judge.consequences import fold
        from abistore.diffing.judge.successive import JudgedAlone

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


SHORTEST, SHOWN = 6, 10
"""So many digits an identity needs to be taken for one, and so many findings of it are looked at."""


class FirstBroken(msgspec.Struct, frozen=True):
    """Since when something is broken for programs built against ``base``, in one line.

    ``first_broken`` is ``None`` where no later release breaks it; ``last_good`` is the release before it, or the latest
    one. Both were judged. ``changes`` are the breaks there. ``not_observed`` are releases between the two whose
    evidence cannot show it. ``judged`` releases were looked at, of ``releases`` after ``base``.
    """

    line: LineKey
    name: Name
    base: DatedRelease
    last_good: DatedRelease
    first_broken: DatedRelease | None
    changes: tuple[ReportedFinding, ...] = ()
    not_observed: tuple[str, ...] = ()
    judged: int = 0
    releases: int = 0


def first_broken(
    name: str,
    *,
    library: str | None = None,
    since: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> tuple[FirstBroken, ...]:
    """The first release of each line that breaks ``name``, and the last good one before it.

    ``name`` is a symbol, a function, variable or type as the source calls it, or the identity of a finding that the
    store has. Programs are those built against ``since`` (a version, ``baseline``, ``baseline:CHANNEL``), by default
    the first release that has the name, or the one that the finding was found against. Only few releases are judged,
    none is built. Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    with using(database) as store, store.reading():
        asked = tuple(_asked(store, name, library, (since, target, profile)))
        if not asked:
            raise _unknown(store, name, library)
        return tuple(_first_broken(store, one, by) for one in asked)


class _Asked(NamedTuple):
    """What is to be found: a break of a name, of one identity if that is given, in a line."""

    line: AskedLine
    name: Name
    identity: str | None = None


def _asked(
    store: Store, text: str, library: str | None, of: tuple[str | None, str | None, str | None]
) -> Iterator[_Asked]:
    since, target, profile = of
    logs = store.logs(lengthened(text), library)
    platform = line_target(store, target)
    for key, events in logs.items():
        if platform in {None, key.target} and profile in {None, key.profile}:
            for name in sorted({event.name for event in events}):
                appeared = next(each.release.version for each in events if each.name == name and each.after)
                yield from (_Asked(line, name) for line in _from(store, key, since or appeared))
    if not logs and len(text) >= SHORTEST and may_begin(text):
        for sighting in store.findings(text, SHOWN)[0][:1]:
            key, finding = sighting.new.line, sighting.finding
            for line in _from(store, key, since or sighting.old.version):
                yield _Asked(line, finding.name, identity_of(finding, ()).hex())


def _from(store: Store, key: LineKey, since: str) -> Iterator[AskedLine]:
    found = asked_lines(store, key.library, since, key.target, key.profile)
    yield from (line for line in found if line.key == key)


def _unknown(store: Store, name: str, library: str | None) -> SnapshotNotFound:
    from abistore.service.declarations import declarations_near

    where = f"no release of {library}" if library else "no stored library"
    known = store.spellings(library) if library else store.spellings_near(name)
    return SnapshotNotFound(f"{name}: {where} has such a declaration or finding", declarations_near(name, known))


def _first_broken(store: Store, asked: _Asked, by: Ruling | None) -> FirstBroken:
    line = asked.line
    probes = Probes(store, line, by)
    places, turns = _observed(probes), probes.meet([asked.name])[asked.name]
    at = first_onset(places, turns, _holds(probes, asked))
    releases = line.releases
    good = places[-1] if at is None else places[at - 1]
    broken = None if at is None else places[at]
    changes = () if broken is None else tuple(identified(_meant(probes, asked, broken)))
    return FirstBroken(
        line.key,
        asked.name,
        dated(line.base),
        dated(releases[good]),
        None if broken is None else dated(releases[broken]),
        tuple(reported(finding, called) for called, finding in changes),
        tuple(each.version for each in releases[good + 1 : broken]) if broken is not None else (),
        probes.judged,
        len(releases) - 1 - line.start,
    )


def _observed(probes: Probes) -> Sequence[int]:
    """The releases that show what the base and the latest one both show: debug information, or else headers."""
    facets: tuple[Facet, ...] = ("layout", "source", "symbol")
    return probes.observed(next(facet for facet in facets if probes.shown(facet) or facet == "symbol"))


def _meant(probes: Probes, asked: _Asked, at: int) -> Sequence[Finding]:
    found = probes.breaks(at, asked.name)
    return [each for each in found if asked.identity is None or identity_of(each, ()).hex() == asked.identity]


def _holds(probes: Probes, asked: _Asked) -> Callable[[int], bool]:
    return lambda at: bool(_meant(probes, asked, at))
