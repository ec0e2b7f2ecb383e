"""The releases that a program can run on, which was built against one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import Incomparable, InputError
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.findings import Verdict, unequal_evidence
from abistore.model.history import LineKey, Release
from abistore.service.database import Database, using
from abistore.service.history.sides import SideWalk
from abistore.service.inventory.inventory import released
from abistore.service.listing import releases_of

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class RunsOn(msgspec.Struct, frozen=True):
    """A release that a program may meet: the verdict that decides, or the ``reason`` why there is none.

    ``partial``: one of the two releases shows less than the other.
    """

    version: str
    verdict: Verdict | None
    partial: bool = False
    reason: str = ""


class CompatibleRange(msgspec.Struct, frozen=True):
    """The releases that a program runs on which was built against ``version``.

    It ``runs_up_to`` the last release before one that breaks it, and ``needs_at_least`` the first after one that lacks
    something which it may use. ``releases`` are all others of the line, in release order, each judged as the
    replacement of ``version``; some beyond the range may fit again.
    """

    line: LineKey
    version: str
    needs_at_least: str
    runs_up_to: str
    releases: tuple[RunsOn, ...]


def compatible_range(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> CompatibleRange:
    """The releases that a program can run on which was built against a release, or the latest one of a library.

    Such a program may use all that the release exports. Nothing is stored. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        release = released(store, reference, target, profile)
        ordered = releases_of(store, release.line)
        place = next(number for number, each in enumerate(ordered) if each.sequence == release.sequence)
        later = tuple(_judged(store, release, ordered[place + 1 :], by))
        earlier = tuple(_judged(store, release, ordered[:place][::-1], by))
        return CompatibleRange(
            release.line,
            release.version,
            _last_fit(release.version, earlier),
            _last_fit(release.version, later),
            (*earlier[::-1], *later),
        )


def _judged(store: Store, base: Release, others: Sequence[Release], by: Ruling | None) -> Iterator[RunsOn]:
    """The others, each judged as the replacement of ``base``, the nearest first."""
    from abistore.compare.replacing import Replacing

    walk = SideWalk(store)
    row = Replacing(walk.go(base), by)
    for other in others:
        side = walk.go(other)
        row.note(walk.changed)
        with limits_for(side.snapshot.weight * 2, f"judging {other.reference}"), without_cycle_collection():
            partial = bool(unequal_evidence(base.evidence, other.evidence))
            try:
                yield RunsOn(other.version, row.verdict(side), partial)
            except (InputError, Incomparable) as error:
                yield RunsOn(other.version, None, partial, error.message)


def _last_fit(version: str, others: Iterable[RunsOn]) -> str:
    """The last release before one that does not fit, or is not known to."""
    for other in others:
        if other.verdict is None or other.verdict is Verdict.BREAKING:
            break
        version = other.version
    return version
