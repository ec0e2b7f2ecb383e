"""Since when, until when: the release that broke something, found by few comparisons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

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
from abistore.report.outline import reported
from abistore.report.since import FirstBroken
from abistore.report.wording import lengthened
from abistore.service.binding import ruling_of_line
from abistore.service.commits import NOWHERE, Commits, CommitSource
from abistore.service.database import Database, line_target, using
from abistore.service.judging import concluded
from abistore.service.listing import channels_of, lines_of, promised
from abistore.service.verdicts import ConsecutiveJudge, given_now, key_of

if TYPE_CHECKING:
    from abistore.diffing.context import Context
    from abistore.diffing.judge.successive import JudgedAlone
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store
    from abistore.store.walking import Lifetimes, LineWalk, WalkStep


class AskedLine(NamedTuple):
    """A line and its builds in release order: releases, and candidates that failed their gate.

    ``start`` is the place of the release that the question begins at, ``end`` that of the one that it is about.
    Candidates may follow.
    """

    key: LineKey
    builds: Sequence[Release]
    start: int
    end: int

    @property
    def base(self) -> Release:
        """The release that the question begins at."""
        return self.builds[self.start]

    @property
    def last(self) -> Release:
        """The release that the question is about."""
        return self.builds[self.end]

    @property
    def releases(self) -> list[Release]:
        """The releases up to the last one, without candidates between."""
        asked = {self.start, self.end}
        builds = enumerate(self.builds[: self.end + 1])
        return [each for place, each in builds if not each.candidate or place in asked]


def asked_lines(
    store: Store, library: str, since: str | None, target: str | None, profile: str | None
) -> Iterator[AskedLine]:
    """The lines of a library, or of one release of it (``libfoo@1.2.0``), each from ``since`` on.

    That is a version, ``baseline`` or ``baseline:CHANNEL``. Without it a line begins at the first release with the
    SONAME of its last one: programs that were linked with any of these load the last. Lines that have no such version
    are left out; raises :class:`UsageError` where none has it.
    """
    last = store.resolve(library, target=target, profile=profile) if "@" in library else None
    keys = (last.line,) if last else lines_of(store, library, target, profile)
    found = [line for key in keys if (line := _asked_line(store, key, since, last)) is not None]
    if not found:
        raise UsageError(f"{library} has no release {since}", f"`abistore list {keys[0].library}` shows the releases")
    yield from found


def _asked_line(store: Store, key: LineKey, since: str | None, last: Release | None) -> AskedLine | None:
    builds = store.builds(key.library, key.target, key.profile)
    if last is None:
        end = max(place for place, each in enumerate(builds) if not each.candidate)
    else:
        end = next(place for place, each in enumerate(builds) if each.sequence == last.sequence)
    start = _start(store, key, builds[: end + 1], since)
    return None if start is None else AskedLine(key, builds, start, end)


def _start(store: Store, key: LineKey, builds: Sequence[Release], since: str | None) -> int | None:
    if since is None:
        soname = builds[-1].soname
        first = (place for place, each in enumerate(builds) if not each.candidate and each.soname == soname)
        any_ = (place for place, each in enumerate(builds) if not each.candidate)
        return next(first if soname else any_, len(builds) - 1)
    channel = channel_in(since)
    version = since if channel is None else channels_of(store, key).get(channel)
    return next((place for place, each in enumerate(builds) if each.version == version), None)


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
        """What comparing the base and the last release finds."""
        from abistore.diffing.judge.judged import compare, compared

        base, end = self._base.snapshot, self.line.end
        context = self._context(end)
        weight = base.weight + context.new.snapshot.weight
        with limits_for(weight, f"judging {self.line.last.reference}"), without_cycle_collection():
            if context.old is not self._base:
                return compare(base, self._step(end).snapshot, self._by)
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
        """What the build at ``place`` breaks of ``name``."""
        if place == self.line.start or self._alike.get(name, 0) >> place & 1:
            return ()
        key = place, name
        if key not in self._found:
            release = self.line.builds[place]
            alone = self._alone(place)
            with limits_for(release.declarations << 8, f"judging {release.reference}"), without_cycle_collection():
                self._found[key] = tuple(each for each in alone.about(name) if each.impact in BREAKS)
        return self._found[key]

    @cached_property
    def lifetimes(self) -> Lifetimes:
        """The lives of the names that were met, by the line's builds."""
        return self.walk.lifetimes(self.line.builds)

    def shown(self, facet: Facet) -> bool:
        """Whether the base and the last release show anything of a facet."""
        return min(_rank(self.line.base, facet), _rank(self.line.last, facet)) > 0

    def observed(self, facet: Facet) -> Sequence[int]:
        """The places of the releases, the base first, that show as much of a facet as the base and the last one do."""
        if facet not in self._observed:
            line, start = self.line, self.line.start
            later = self.observing(facet, range(start + 1, line.end + 1))
            self._observed[facet] = [start, *(at for at in later if at == line.end or not line.builds[at].candidate)]
        return self._observed[facet]

    def observing(self, facet: Facet, places: Iterable[int]) -> list[int]:
        """Those of ``places`` that show as much of a facet as the base and the last release both do."""
        rank = min(_rank(self.line.base, facet), _rank(self.line.last, facet))
        return [place for place in places if _rank(self.line.builds[place], facet) >= rank]

    @cached_property
    def _promised(self) -> frozenset[int]:
        return frozenset(each.sequence for each in promised(self.line.releases) if not each.candidate)

    def is_released(self, place: int) -> bool:
        """Whether the build at ``place`` is a release that people get, and no build between releases."""
        return self.line.builds[place].sequence in self._promised

    def origin(
        self, facet: Facet, between: tuple[int, int], turns: Iterable[int], holds: Callable[[int], bool]
    ) -> tuple[int, int]:
        """The last good build and the first with what holds at the second place, and does not at the first.

        Both are releases; candidates between them are asked, too.
        """
        good, broken = between
        tried = (place for place in range(good + 1, broken) if self.line.builds[place].candidate)
        places = [good, *self.observing(facet, tried), broken]
        at = last_onset(places, turns, holds)
        return places[at - 1], places[at]

    def _alone(self, place: int) -> JudgedAlone:
        from abistore.diffing.judge.successive import JudgedAlone

        if self._at is None or self._at[0] != place:
            self._at = place, JudgedAlone(self._context(place), self._by)
            self.judged += 1
        return self._at[1]

    def _step(self, place: int) -> WalkStep:
        step = self.walk.step(self.line.builds[place])
        self._differing.note(step.changed)
        return step

    def _context(self, place: int) -> Context:
        """The base and another release under its names, each without the facts that the other does not record."""
        from abistore.diffing.context import Context
        from abistore.diffing.judge.judged import aligned_context, refuse_strangers
        from abistore.diffing.side import SideFacts

        release = self.line.builds[place]
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

    def verdict(self, old: Release, new: Release) -> Verdict | None:
        """What was, or is now, found about ``new``; ``None`` where nobody can tell."""
        if (summary := self._summary(old, new)) is not None:
            return summary.verdict
        given = self._judged(old, new)
        return given.comparison.verdict if given else None

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

MOST_CANDIDATES = 32
"""So many candidates after the last release are asked whether they break something that no release breaks."""


def first_broken(
    name: str,
    *,
    library: str | None = None,
    since: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    commits: CommitSource = NOWHERE,
) -> tuple[FirstBroken, ...]:
    """The first build of each line that breaks ``name``, the last good one before it, and the first broken release.

    ``name`` is a symbol, a function, variable or type as the source calls it, or the identity of a finding that the
    store has. Programs are those built against ``since`` (a version, ``baseline``, ``baseline:CHANNEL``), by default
    the first release that has the name, or the one that the finding was found against. Candidates count as builds.
    Only few builds are judged, none is made. ``commits`` says where their commits are looked up. Raises
    :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    with using(database) as store, store.reading():
        asked = tuple(_asked(store, name, library, (since, target, profile)))
        if not asked:
            raise _unknown(store, name, library)
        told = Commits(commits)
        return tuple(_first_broken(_probes(store, one.line, by), one, told) for one in asked)


def _probes(store: Store, line: AskedLine, by: Ruling | None) -> Probes:
    return Probes(store, line, ruling_of_line(store, line.key, line.releases, by))


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


def _first_broken(probes: Probes, asked: _Asked, commits: Commits) -> FirstBroken:
    line, holds = asked.line, _holds(probes, asked)
    facet, turns = _facet(probes), probes.meet([asked.name])[asked.name]
    places = probes.observed(facet)
    at = first_onset(places, turns, holds)
    if at is None:
        good, broken = places[-1], _broken_candidate(probes, facet, holds)
        unseen, released = range(0), None
    else:
        unseen = range(places[at - 1] + 1, places[at])
        good, broken = probes.origin(facet, (places[at - 1], places[at]), turns, holds)
        released = next((place for place in places[at:] if probes.is_released(place) and holds(place)), None)
    changes = () if broken is None else tuple(identified(_meant(probes, asked, broken)))
    return FirstBroken(
        line.key,
        asked.name,
        commits.dated(line.base),
        commits.dated(line.builds[good]),
        None if broken is None else commits.dated(line.builds[broken]),
        None if released is None else commits.dated(line.builds[released]),
        tuple(reported(finding, called) for called, finding in changes),
        tuple(line.builds[place].version for place in unseen if not line.builds[place].candidate),
        probes.judged,
        len(line.builds) - 1 - line.start,
    )


def _broken_candidate(probes: Probes, facet: Facet, holds: Callable[[int], bool]) -> int | None:
    later = probes.observing(facet, range(probes.line.end + 1, len(probes.line.builds)))
    return next((place for place in later[:MOST_CANDIDATES] if holds(place)), None)


def _facet(probes: Probes) -> Facet:
    """What the base and the last release both show: debug information, or else headers."""
    facets: tuple[Facet, ...] = ("layout", "source", "symbol")
    return next(facet for facet in facets if probes.shown(facet) or facet == "symbol")


def _meant(probes: Probes, asked: _Asked, at: int) -> Sequence[Finding]:
    found = probes.breaks(at, asked.name)
    return [each for each in found if asked.identity is None or identity_of(each, ()).hex() == asked.identity]


def _holds(probes: Probes, asked: _Asked) -> Callable[[int], bool]:
    return lambda at: bool(_meant(probes, asked, at))
