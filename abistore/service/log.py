"""The history of declarations: their releases, deprecations and removals, and reviews of findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import partial
from heapq import merge
from shlex import quote
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.limits import limits_for
from abistore.model.approvals import Deprecation, DeprecationState, EarlyRemoval, LineDeprecations
from abistore.model.declarations import TYPES, Facet, Name
from abistore.model.findings import Side, is_whole
from abistore.model.history import FindingReview, LineKey, LogEvent, Release, ReviewState, Sighting
from abistore.model.labels import Given, check_not_blank
from abistore.model.names.spelling import mention_of, spelled_out
from abistore.model.shapes import Alias, AnyShape, Named, Qualified
from abistore.model.versions import DeprecationWindow, Moment, is_open, opens, window
from abistore.report.document import declaration_of
from abistore.report.model import ComparedDeclaration, Report, ReportedFinding
from abistore.report.outline import reported
from abistore.report.since import DatedRelease
from abistore.report.wording import lengthened
from abistore.service.approved_gates import finding_with_said
from abistore.service.commits import NOWHERE, Commits, CommitSource
from abistore.service.database import Database, line_target, user, using
from abistore.service.declarations import (
    OF_OTHERS,
    OF_TYPES,
    DeclaredLife,
    DeclaredLives,
    declarations_near,
    declared_lives,
    differing_lines,
    display,
    spelled_alike,
)
from abistore.service.kinds import kinds
from abistore.service.listing import lines_of, releases_of
from abistore.service.snapshots import check_note

if TYPE_CHECKING:
    from abistore.store.store import Store


def deprecations(
    library: str,
    *,
    within: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[LineDeprecations, ...]:
    """What each line of a library deprecates, and what it removed, of what programs can use: private members are not.

    ``within`` is the window, such as ``2 minor``: how long a declaration stays after it was deprecated. Raises
    :class:`SnapshotNotFound`, and :class:`UsageError` for what is no window.
    """
    rule = window(within) if within is not None else None
    with using(database) as store, store.reading():
        return tuple(_of_line(store, key, rule) for key in lines_of(store, library, target, profile))


def _of_line(store: Store, key: LineKey, rule: DeprecationWindow | None) -> LineDeprecations:
    releases = releases_of(store, key)
    found = declared_lives(store, releases)
    usable = {name: life for name, life in found.lives.items() if not life.is_private}
    items = _items(releases, found._replace(lives=usable), rule, store.scheme(key.library))
    unread = tuple(each.version for place, each in enumerate(releases) if place not in set(found.read))
    return LineDeprecations(key, releases[-1].version, str(rule) if rule else "", items, unread)


def removals_of(
    store: Store, release: Release, report: Report, rule: DeprecationWindow | None
) -> tuple[Deprecation, ...]:
    """What a stored release removes of declarations in headers, with what was said of each before.

    ``report`` compares it with the release before. Nothing is told where the headers of either were not read.
    """
    if not any(_removed(report)):
        return ()
    releases = releases_of(store, release.line)
    until = releases[: releases.index(release) + 1]
    found = declared_lives(store, until)
    items = _items(until, found, rule, store.scheme(release.line.library))
    return tuple(each for each in items if each.removed == release.version)


def moment(release: Release) -> tuple[str, date]:
    """A stored release's label and day."""
    return release.version, (release.released or release.ingested).date()


def _items(
    releases: Sequence[Release], found: DeclaredLives, rule: DeprecationWindow | None, scheme: str
) -> tuple[Deprecation, ...]:
    items: dict[tuple[str, DeclaredLife], Deprecation] = {}
    for name, life in sorted(found.lives.items()):
        since = _moment(releases, life.since) if life.since is not None else None
        at = life.removed if life.removed is not None else len(releases) - 1
        is_due = since is not None and (rule is None or is_open(rule, since, _moment(releases, at), scheme))
        told = Deprecation(
            name,
            life.display,
            _state(life, ruled=rule is not None, is_due=is_due),
            since.label if since else "",
            f"{since.day:%Y-%m-%d}" if since else "",
            life.since is not None and life.since == found.read[0],
            releases[life.removed].version if life.removed is not None else "",
            opens(rule, since, scheme) if rule and since else "",
        )
        items.setdefault((name.kind, life), told)  # one constructor has several symbols
    return tuple(items.values())


def _state(life: DeclaredLife, *, ruled: bool, is_due: bool) -> DeprecationState:
    if life.removed is None:
        return "removable" if ruled and is_due else "deprecated"
    if life.since is None:
        return "undeprecated"
    return "removed" if is_due else "too-early"


def early_removals(
    store: Store, report: Report, old: Release, now: tuple[str, date], rule: DeprecationWindow
) -> tuple[EarlyRemoval, ...]:
    """What a build with a label and a day removes of a stored release before the window opens.

    Where the headers of no release were read nobody knows what was deprecated, and nothing is early.
    """
    removed = list(_removed(report))
    if not removed:
        return ()
    releases = releases_of(store, old.line)
    ordered = releases[: releases.index(old) + 1]
    found, scheme = declared_lives(store, ordered), store.scheme(old.line.library)
    if not found.read:
        return ()
    early, at = [], Moment(*now, len(ordered))
    by_spelling = {name.spelling: life for name, life in found.lives.items() if life.removed is None}
    for finding in removed:
        life = by_spelling.get(finding.symbol)
        if life is None or life.since is None:
            early.append(EarlyRemoval(finding.display))
            continue
        since = _moment(ordered, life.since)
        if not is_open(rule, since, at, scheme):
            early.append(EarlyRemoval(finding.display, since.label, opens(rule, since, scheme)))
    return tuple(early)


def _removed(report: Report) -> Iterator[ReportedFinding]:
    removals = {name for name, card in kinds().items() if card.action == "removed"}
    yield from (
        each
        for each in report.changes
        if each.kind in removals and not each.part and each.impact in {"breaking", "api_break"}
    )


def _moment(releases: Sequence[Release], place: int) -> Moment:
    return Moment(*moment(releases[place]), place)


SHOWN = 10
"""How many findings are shown: a declaration that changes in every release has one place and many findings."""


class MeantFinding(NamedTuple):
    """The finding that digits mean, in a library; ``sighting`` is ``None`` where no stored comparison has it."""

    library: str
    identity: str
    sighting: Sighting | None


def unknown(store: Store, digits: str, more: str = "") -> SnapshotNotFound:
    """The error for digits that mean no finding of this store's own comparisons."""
    if sides := store.found_elsewhere(digits):
        old, new = sides
        asked = f"`abistore verdict {quote(f'{new.line.library}@{new.version}')} --against {quote(old.version)}`"
        return SnapshotNotFound(
            f"no comparison of this store has a finding {digits}, only a verdict merged from another store",
            f"{asked} judges here{more}",
        )
    return SnapshotNotFound(
        f"no stored comparison has a finding {digits}", f"`abistore verdict REFERENCE -v` shows identities{more}"
    )


def meant(store: Store, digits: str, library: str | None) -> MeantFinding:
    """The one finding whose identity begins with ``digits``. A whole one of a named library need not be stored.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    sightings, more = store.findings(digits, SHOWN)
    found = {(one.new.line.library, one.identity): one for one in reversed(sightings)}
    found = {key: one for key, one in found.items() if library in {None, key[0]}}
    if library is not None and is_whole(digits):
        return MeantFinding(library, digits, found.get((library, digits)))
    if len(found) == 1 and not more:
        ((where, whole),) = found
        return MeantFinding(where, whole, found[where, whole])
    if not found:
        raise unknown(store, digits, "; a whole one needs --library only")
    listed = ", ".join(f"{whole} of {where}" for where, whole in sorted(found)[:3])
    raise UsageError(f"{digits}: several findings begin so", f"give more digits, or --library: {listed}")


STATES: tuple[ReviewState, ...] = get_args(ReviewState)


class ReviewPlan(Given, frozen=True):
    """A review of a finding, and its author. Without ``library`` it is taken from a stored verdict."""

    state: ReviewState = "seen"
    note: str = ""
    actor: str = ""
    library: str | None = None


class Reviewed(msgspec.Struct, frozen=True):
    """What holds of a finding now; ``changed`` where something else did before."""

    review: FindingReview
    changed: bool


def review(identity: str, plan: ReviewPlan, *, database: Database = None) -> Reviewed:
    """Say something of a finding, wherever it is found in a library. What was said before stays in its history.

    A short identity is that of a finding in a stored verdict. Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    check_note("note", plan.note)
    if plan.state not in STATES:
        raise UsageError(f"no state of a review is called {plan.state}", f"one of: {', '.join(STATES)}")
    with using(database, write=True) as store:
        library, whole, _ = meant(store, identity.lower(), plan.library)
        said = FindingReview(library, whole, plan.state, plan.note, plan.actor or user(), datetime.now(UTC))
        return Reviewed(said, store.review(said))


def reviews(library: str | None = None, *, past: bool = False, database: Database = None) -> tuple[FindingReview, ...]:
    """What holds of each finding that was reviewed; with ``past`` all that was ever said, oldest first."""
    with using(database) as store:
        check_not_blank("the library", library)
        said = [one for one in store.reviews() if library in {None, one.library}]
    if past:
        return tuple(said)
    last = {(one.library, one.identity): one for one in said}
    return tuple(last[key] for key in sorted(last) if last[key].state != "open")


class StoredFinding(msgspec.Struct, frozen=True):
    """A finding in one stored comparison, with its declaration before and after, if that tells more.

    ``change`` has what people say of it: whether it is approved today, by whom and until when, and its review.
    """

    old: Side
    new: Side
    judged: datetime
    change: ReportedFinding
    declared: ComparedDeclaration | None


class StoredFindings(msgspec.Struct, frozen=True):
    """The stored findings of one identity, newest first; ``more`` are left out."""

    findings: tuple[StoredFinding, ...]
    more: int


def findings(identity: str, *, database: Database = None) -> StoredFindings:
    """The findings whose identity begins with ``identity``, each in the comparison that found it first.

    Raises :class:`SnapshotNotFound` if no comparison of this store has one: those that others brought answer nobody.
    """
    with using(database) as store, limits_for(0, "looking for the finding"):
        found, more = store.findings(identity, SHOWN)
        if not found:
            raise unknown(store, identity)
        return StoredFindings(tuple(_shown(store, one) for one in found), more)


def _shown(store: Store, one: Sighting) -> StoredFinding:
    declared = declaration_of(one.finding, *store.load_many([one.old, one.new]))
    change = finding_with_said(store, reported(one.finding, one.identity), one.old, one.new)
    return StoredFinding(one.old.side, one.new.side, one.judged, change, declared)


LISTED = 8


class LogEntry(msgspec.Struct, frozen=True):
    """One release in which a declaration appeared, changed, vanished or could not be observed.

    ``before`` and ``after`` are its declarations in C or C++ with offsets, one text for each variant. ``first_stored``:
    the release is the oldest of its line, so what was before is not known. ``built`` is the first build that is as this
    release: a candidate, or the release itself. ``alias_of`` is the type of an alias, which has a log of its own.
    ``said`` tells what differs where the texts do not.
    """

    line: LineKey
    version: str
    date: datetime
    name: Name
    display: str
    facet: Facet
    action: Literal["appeared", "changed", "vanished", "not-observed"]
    before: tuple[str, ...]
    after: tuple[str, ...]
    built: DatedRelease
    first_stored: bool = False
    alias_of: str | None = None
    said: tuple[str, ...] = ()


def log(
    name: str,
    *,
    library: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    commits: CommitSource = NOWHERE,
) -> tuple[LogEntry, ...]:
    """Every release in which a declaration appeared, changed or vanished, line by line, oldest first.

    ``name`` is a linker name or a qualified source name. ``commits`` says where commits are looked up. Raises
    :class:`SnapshotNotFound` if no library has the name.
    """
    with using(database) as store, limits_for(len(store.lines()) << 20, f"looking for {_brief(name)}"):
        keys = _lines_searched(store, library, target, profile)
        found = store.logs(lengthened(name), library)
        lines = {key: found[key] for key in keys if found.get(key)}
        if not lines:
            raise _unseen(name, tuple(found)) if found else _no_declaration(store, name, library, keys)
        told = Commits(commits)
        return tuple(
            _log_entry(event, told.dated(built))
            for key, events in lines.items()
            for event, built in zip(events, _first_builds(store, key, events), strict=True)
        )


def _first_builds(store: Store, key: LineKey, events: Sequence[LogEvent]) -> Iterator[Release]:
    """The first build, of each event, in which the declaration is as in the event's release.

    Of the candidates since the previous release, those count that lead to the release without a change between.
    """
    builds = store.builds(key.library, key.target, key.profile)
    lives = store.walk().lifetimes_of({event.name for event in events}, builds)
    for event in events:
        place = next(at for at, each in enumerate(builds) if each.sequence == event.release.sequence)
        alike = lives.alike([event.name], place).get(event.name, 0)
        first = place
        while first and builds[first - 1].candidate and alike >> (first - 1) & 1:
            first -= 1
        yield builds[first]


def with_origins(store: Store, report: Report, old: Release, new: Release) -> Report:
    """The report, in which a break says in which build since ``old`` its declaration became what it is in ``new``.

    Nothing is judged: a declaration that is the same in both says nothing, nor does one that ``new`` itself changed.
    """
    names = {Name(each.subject, each.symbol) for each in report.changes if each.impact in _BREAKS}
    builds = store.builds(new.line.library, new.line.target, new.line.profile) if names else ()
    places = {each.sequence: place for place, each in enumerate(builds)}
    start, end = places.get(old.sequence), places.get(new.sequence)
    if start is None or end is None or end - start < 2:
        return report
    alike = store.walk().lifetimes_of(names, builds).alike(names, end)

    def told(finding: ReportedFinding) -> ReportedFinding:
        same = alike.get(Name(finding.subject, finding.symbol), 0)
        first = end
        while first - 1 > start and same >> (first - 1) & 1:
            first -= 1
        if first == end or same >> start & 1 or finding.impact not in _BREAKS:
            return finding
        return msgspec.structs.replace(finding, since=_built(builds[first]))

    return msgspec.structs.replace(report, changes=tuple(map(told, report.changes)))


_BREAKS = frozenset({"breaking", "api_break"})


def _built(build: Release) -> str:
    """A build in a few words: ``1.1.0-2-gd8fc9c8, a candidate, revision d8fc9c8a31``."""
    revision = f"revision {build.revision[:10]}" if build.revision else ""
    return ", ".join(filter(None, (build.version, "a candidate" if build.candidate else "", revision)))


def _brief(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}..."


def _lines_searched(store: Store, library: str | None, target: str | None, profile: str | None) -> tuple[LineKey, ...]:
    """The lines to search. That there is none is an error only if a library was named."""
    if library:
        return lines_of(store, library, target, profile)
    wanted = line_target(store, target)
    return tuple(key for key in store.lines() if wanted in {None, key.target} and profile in {None, key.profile})


def _unseen(name: str, having: Sequence[LineKey]) -> SnapshotNotFound:
    """The error for a ``name`` that only lines of another target or profile have."""
    message = f"{name}: no release of this target and profile has a declaration of this name"
    return SnapshotNotFound(message, f"stored in {'; '.join(map(str, having[:LISTED]))}")


def _no_declaration(store: Store, name: str, library: str | None, keys: Sequence[LineKey]) -> SnapshotNotFound:
    blind = sorted({key.library for key in keys} - {key.library for key in store.lines_with_types()})
    if library:
        unseen = "; its types are not known, for want of debug information" if blind else ""
        message = f"{name}: no release of {library} has a declaration of this name{unseen}"
    else:
        more = f" and {len(blind) - LISTED} more" if len(blind) > LISTED else ""
        listed = ", ".join(blind[:LISTED]) + more
        unseen = f"; the types of {listed} are not known, for want of debug information" if blind else ""
        message = f"no stored library has {name}{unseen}"
    known = store.spellings(library) if library else store.spellings_near(name)
    return SnapshotNotFound(message, declarations_near(name, known))


def _log_entry(event: LogEvent, built: DatedRelease) -> LogEntry:
    sources = event.release.provenance
    spelled = partial(spelled_out, event.name, languages=sources.languages, mention=mention_of(sources))
    return LogEntry(
        line=event.release.line,
        version=event.release.version,
        date=event.release.released or event.release.ingested,
        name=event.name,
        display=display(event.name, event.after or event.before),
        facet=event.facet,
        action=event.action,
        before=tuple(spelled(event.before)),
        after=tuple(spelled(event.after)),
        built=built,
        first_stored=event.first_stored,
        alias_of=next((stood for shape in event.after or event.before if (stood := _stood_for(shape))), None),
        said=spelled_alike(event.before, event.after),
    )


def _stood_for(shape: AnyShape) -> str | None:
    if not isinstance(shape, Alias):
        return None
    target = shape.target.target if isinstance(shape.target, Qualified) else shape.target
    return target.name.spelling if isinstance(target, Named) else None


class LoggedEvent(msgspec.Struct, frozen=True):
    """What became of a declaration in one release, by all ``facets`` that show it: the ``entry`` that says most.

    ``lines`` are what differs from the release before, ``of`` the lines of the library in which it is so.
    """

    entry: LogEntry
    facets: tuple[Facet, ...]
    of: tuple[LineKey, ...]
    lines: tuple[str, ...] = ()


def logged_events(entries: Iterable[LogEntry]) -> tuple[LoggedEvent, ...]:
    """The entries of a log, one for each release of a library, declaration and action, oldest first."""
    libraries: dict[str, dict[LineKey, list[LogEntry]]] = {}
    for each in entries:
        libraries.setdefault(each.line.library, {}).setdefault(each.line, []).append(each)
    return tuple(event for lines in libraries.values() for event in _events(lines.values()))


def _events(lines: Iterable[Sequence[LogEntry]]) -> Iterator[LoggedEvent]:
    """The events of one library, one declaration after the other; the earlier of two lines comes first."""
    found: dict[tuple[object, ...], list[LogEntry]] = {}
    for each in merge(*lines, key=lambda each: (each.name, each.date)):
        found.setdefault((each.version, each.name, each.action), []).append(each)
    return map(_logged, found.values())


def _logged(entries: Sequence[LogEntry]) -> LoggedEvent:
    order = OF_TYPES if entries[0].name.kind in TYPES else OF_OTHERS
    ordered = sorted(entries, key=lambda each: order.index(each.facet))
    told = [(each, _log_lines(each)) for each in ordered]
    entry, lines = next(((each, lines) for each, lines in told if lines), told[0])
    facets = tuple(dict.fromkeys(each.facet for each in ordered))
    return LoggedEvent(entry, facets, tuple(dict.fromkeys(each.line for each in entries)), lines)


def _log_lines(entry: LogEntry) -> tuple[str, ...]:
    if entry.action != "changed":
        return ()
    return differing_lines(entry.name, "\n".join(entry.before), "\n".join(entry.after))
