"""The first release that breaks a symbol, a type or a place that a finding is about, and the last one that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.model.findings import Finding
from abistore.model.history import LineKey
from abistore.model.judging.identity import identified, identity_of, may_begin
from abistore.model.names import Facet, Name
from abistore.report.model import ReportedFinding
from abistore.report.outline import reported
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.since.line import AskedLine, DatedRelease, asked_lines, dated
from abistore.service.since.probing import Probes, first_onset

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

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
    from abistore.service.spelled import declarations_near

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
