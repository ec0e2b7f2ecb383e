"""Baselines: named channels that point at the release that others are judged against."""

from __future__ import annotations

import msgspec

from abistore.errors import UsageError
from abistore.model.history import DEFAULT_CHANNEL, BaselineMove
from abistore.service.database import Database, line_target, user, using
from abistore.service.listing import lines_of, releases_of


class BaselinePlan(msgspec.Struct, frozen=True):
    """Which channel moves, why and by whom; ``target`` and ``profile`` choose among a library's lines."""

    channel: str = DEFAULT_CHANNEL
    reason: str = ""
    actor: str = ""
    target: str | None = None
    profile: str | None = None


PLAIN = BaselinePlan()


def set_baseline(reference: str, plan: BaselinePlan = PLAIN, *, database: Database = None) -> BaselineMove:
    """Point a channel at a stored release. Raises :class:`SnapshotNotFound`, :class:`UsageError`."""
    with using(database, write=True) as store, store.transaction():
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        if release not in releases_of(store, release.line):
            what = "a candidate" if release.candidate else "replaced or taken back"
            hint = "a baseline points at a release: ingest the file again without --against, or suppress what failed"
            raise UsageError(f"{reference}: {release.reference} of this digest is {what}, and no release", hint)
        return store.set_baseline(release.line, plan.channel, release.version, plan.actor or user(), plan.reason)


def clear_baseline(library: str, plan: BaselinePlan = PLAIN, *, database: Database = None) -> tuple[BaselineMove, ...]:
    """Clear a channel in the lines of a library. Raises :class:`SnapshotNotFound`."""
    with using(database, write=True) as store:
        keys = lines_of(store, library, plan.target, plan.profile)
        return tuple(store.set_baseline(key, plan.channel, None, plan.actor or user(), plan.reason) for key in keys)


def baselines(library: str | None = None, *, database: Database = None) -> tuple[BaselineMove, ...]:
    """Where every channel points now, with who moved it there. Raises :class:`SnapshotNotFound`."""
    with using(database) as store:
        if library is not None:
            lines_of(store, library, None, None)
        return store.baselines(library)


def baseline_history(
    library: str, *, channel: str | None = None, database: Database = None
) -> tuple[BaselineMove, ...]:
    """Every move of a library's channels, oldest first. Raises :class:`SnapshotNotFound`."""
    with using(database) as store:
        lines_of(store, library, None, None)
        return store.baseline_history(library, channel)
