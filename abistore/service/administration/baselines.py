"""Baselines: named channels that point at the release that others are judged against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.errors import StaleBaseline, UsageError
from abistore.model.history import DEFAULT_CHANNEL, BaselineMove, Release
from abistore.model.labels.blanks import Given, check_not_blank
from abistore.service.database import Database, line_target, user, using
from abistore.service.listing import lines_of, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store

UNSET = "none"
"""What to expect of a channel that is not set."""


class BaselinePlan(Given, frozen=True):
    """Which channel moves, why and by whom; ``target`` and ``profile`` choose among a library's lines.

    What the caller has seen is checked in the transaction that moves it: ``expect`` is the version at which the channel
    stands (``none``: it is not set), ``expect_digest`` that release's digest, and ``digest`` that of the release it
    moves to.
    """

    channel: str = DEFAULT_CHANNEL
    reason: str = ""
    actor: str = ""
    target: str | None = None
    profile: str | None = None
    expect: str | None = None
    expect_digest: str | None = None
    digest: str | None = None


PLAIN = BaselinePlan()


def set_baseline(reference: str, plan: BaselinePlan = PLAIN, *, database: Database = None) -> BaselineMove:
    """Point a channel at a stored release.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`, :class:`StaleBaseline`.
    """
    with using(database, write=True) as store, store.transaction():
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        store.hold(release.line)
        if release not in releases_of(store, release.line):
            what = "a candidate" if release.candidate else "replaced or taken back"
            hint = "a baseline points at a release: ingest the file again without --against, or suppress what failed"
            raise UsageError(f"{reference}: {release.reference} of this digest is {what}, and no release", hint)
        _check_seen(store, release, plan)
        return store.set_baseline(release.line, plan.channel, release.version, plan.actor or user(), plan.reason)


def set_release_baseline(
    reference: str, plan: BaselinePlan = PLAIN, *, database: Database = None
) -> tuple[BaselineMove, ...]:
    """Point a channel at a version in all lines of a library, and of those that came with it: one move, or none.

    ``plan.expect`` must hold in every line. Raises :class:`UsageError` where a line has no such release.
    """
    from abistore.service.ledger.lines import lines_at

    with using(database, write=True) as store, store.transaction():
        meant = lines_at(store, reference, plan.target, plan.profile)
        for key, missing in zip(meant.keys, meant.why, strict=True):
            store.hold(key)
            if missing:
                raise UsageError(f"{key}: {missing}", "store the release there too, or choose lines with --target")
        found = [each for each in meant.releases if each is not None]
        for each in found:
            _check_seen(store, each, plan)
        actor = plan.actor or user()
        return tuple(store.set_baseline(one.line, plan.channel, one.version, actor, plan.reason) for one in found)


def _check_seen(store: Store, release: Release, plan: BaselinePlan) -> None:
    """Raise :class:`StaleBaseline` where the store does not hold what the caller has seen."""
    check_digest(release, plan.digest)
    if plan.expect is None:
        return
    stands = standing_release(store, release, plan.channel)
    version = stands.version if stands else UNSET
    if version != plan.expect or not (stands.digest if stands else "").startswith(plan.expect_digest or ""):
        same = version == plan.expect
        there = f"{version}, of which another binary was seen" if same else f"{version}, and not {plan.expect}"
        message = f"{release.line}: baseline {plan.channel} stands at {there}"
        raise StaleBaseline(message, "look at what it stands at now, and decide again")


def standing_release(store: Store, beside: Release, channel: str) -> Release | None:
    """The release at which a channel of a release's line stands."""
    line = beside.line
    moves = (move for move in store.baselines(line.library) if (move.line, move.channel) == (line, channel))
    version = next((move.version for move in moves), None)
    return next((one for one in releases_of(store, line) if one.version == version), None)


def check_digest(release: Release, digest: str | None) -> None:
    """Raise :class:`StaleBaseline` unless the release's digest begins with these digits, where any are given."""
    if digest is None:
        return
    check_not_blank("the digest", digest)
    if not release.digest.startswith(digest.lower()):
        message = f"{release.reference}: has the digest {release.digest[:12]}, and not {digest[:12]}"
        raise StaleBaseline(message, "another binary is stored under this version: look at it, and decide again")


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
    check_not_blank("the channel", channel)
    with using(database) as store:
        lines_of(store, library, None, None)
        return store.baseline_history(library, channel)
