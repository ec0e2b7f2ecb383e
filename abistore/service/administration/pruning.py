"""Retention: builds that are no releases go when nobody needs them any more."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec

from abistore.errors import UsageError
from abistore.model.history import LineKey
from abistore.model.labels.blanks import Given
from abistore.model.stores.pruning import PruneReason
from abistore.service.database import Database, user, using

_AGE: Final = re.compile(r"([1-9]\d{0,4})\s*(d|days?|w|weeks?)")
AGE_HINT: Final = "write e.g. 30d, '8 weeks' or a day as 2026-01-31"


class RetentionPlan(Given, frozen=True, kw_only=True):
    """What may stay: of each line the last ``keep_last`` snapshots, and what was stored on ``before`` or later.

    One of both is needed: with neither, all builds would go.
    """

    keep_last: int | None = None
    before: datetime | None = None
    library: str | None = None
    dry_run: bool = False
    actor: str = ""
    reason: str = ""


class PrunedSnapshot(msgspec.Struct, frozen=True):
    """A snapshot that went, or that would go."""

    line: LineKey
    version: str
    reason: PruneReason
    digest: str
    ingested: datetime


class PrunedStore(msgspec.Struct, frozen=True):
    """What went, and the store's size in bytes before and after; with ``dry_run`` nothing went."""

    snapshots: tuple[PrunedSnapshot, ...]
    before: int
    after: int
    dry_run: bool = False


def db_prune(plan: RetentionPlan, *, database: Database = None) -> PrunedStore:
    """Remove candidates, replaced snapshots and builds between releases, and give their space back.

    Releases stay, and what a baseline stands or stood at, what people accepted or reviewed findings of, and the newest
    snapshot of each line. Raises :class:`UsageError` for a plan that keeps nothing, :class:`SnapshotNotFound` for an
    unknown library.
    """
    if plan.keep_last is None and plan.before is None:
        raise UsageError("nothing says which builds to keep", "give --keep-last, --older-than, or both")
    if plan.keep_last is not None and plan.keep_last < 1:
        raise UsageError("--keep-last is at least 1", "the newest build of a line always stays")
    last = plan.keep_last or 1
    with using(database, write=not plan.dry_run) as store:
        if plan.library is not None and plan.library not in {key.library for key in store.lines()}:
            raise store.no_library(plan.library)
        size = store.stats().size
        if plan.dry_run:
            found = store.prunable(plan.library, keep_last=last, before=plan.before)
            after = size
        else:
            found = store.prune(
                plan.library, keep_last=last, before=plan.before, actor=plan.actor or user(), reason=plan.reason
            )
            after = store.vacuum()[1] if found else size
    snapshots = tuple(
        PrunedSnapshot(each.release.line, each.release.version, each.reason, each.release.digest, each.release.ingested)
        for each in found
    )
    return PrunedStore(snapshots, size, after, plan.dry_run)


def older_than(text: str, today: date | None = None) -> datetime:
    """The moment that an age (``30d``, ``8 weeks``) or a day stands for. Raises :class:`UsageError`."""
    day = today or datetime.now(UTC).date()
    read = _AGE.fullmatch(text.strip().lower())
    try:
        if read is not None:
            day -= timedelta(days=int(read[1]) * (7 if read[2].startswith("w") else 1))
        else:
            day = date.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no age", AGE_HINT) from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
