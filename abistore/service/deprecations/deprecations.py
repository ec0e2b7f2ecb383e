"""What a library deprecates, when it may go, and what went too early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from abistore.model.history import LineKey, Release
from abistore.model.judging.deprecations import Deprecation, DeprecationState, EarlyRemoval, LineDeprecations
from abistore.model.labels.windows import DeprecationWindow, Moment, is_open, opens, window
from abistore.report.model import Report, ReportedFinding
from abistore.service.database import Database, using
from abistore.service.deprecations.walking import DeclaredLife, DeclaredLives, declared_lives
from abistore.service.kinds import kinds
from abistore.service.listing import lines_of, releases_of

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
    """What was found of whole declarations that were removed."""
    removals = {name for name, card in kinds().items() if card.action == "removed"}
    yield from (
        each
        for each in report.changes
        if each.kind in removals and not each.part and each.impact in {"breaking", "api_break"}
    )


def _moment(releases: Sequence[Release], place: int) -> Moment:
    return Moment(*moment(releases[place]), place)
