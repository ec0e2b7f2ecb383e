"""Creating, upgrading, checking, copying and cleaning the database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import islice
from pathlib import Path

import msgspec

from abistore.model.history import AuditRecord, Release, StoreStats, StoreUpgrade
from abistore.model.labels.blanks import Given
from abistore.service.administration.baselines import check_digest
from abistore.service.database import Database, busy_seconds, line_target, locate, user, using
from abistore.urls import masked


class InitialisedStore(msgspec.Struct, frozen=True):
    """The store's place, with passwords hidden, and whether it was created just now.

    ``folder`` is the outermost folder that was created for it; ``None`` if its folder was there.
    """

    database: str
    created: bool
    folder: str | None = None


class VacuumedStore(msgspec.Struct, frozen=True):
    """The database's size in bytes before and after, and how many bytes were freed."""

    before: int
    after: int
    freed: int


def db_init(*, database: Database = None) -> InitialisedStore:
    """Create the store if there is none. Raises :class:`StoreError`."""
    from abistore.store.opening import initialise

    where = locate(database)
    created, folder = initialise(where, busy_seconds())
    return InitialisedStore(masked(where), created, masked(str(folder)) if folder else None)


def db_upgrade(*, database: Database = None) -> StoreUpgrade:
    """Bring the store to this abistore's schema, with a backup beside it. Raises :class:`SchemaMismatch`."""
    from abistore.store.upgrade import upgrade

    return upgrade(locate(database), busy_seconds())


def db_check(
    *, quick: bool = False, database: Database = None, progress: Callable[[str, float], None] | None = None
) -> tuple[str, ...]:
    """Everything that is wrong with the store, in one sentence each; empty if it is sound.

    ``quick`` checks only the database's structure, the sums over its rows and the audit.
    """
    with using(database) as store:
        return store.check(quick=quick, progress=progress)


def db_stats(*, database: Database = None) -> StoreStats:
    """How much the store holds."""
    with using(database) as store:
        return store.stats()


def db_backup(destination: str | Path, *, database: Database = None) -> Path:
    """Write a consistent copy of the store to a new file, while others use it. Raises :class:`StoreError`."""
    with using(database) as store:
        return store.backup(destination)


def db_forget(
    reference: str,
    *,
    actor: str = "",
    reason: str = "",
    digest: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Release:
    """Remove a stored release. Raises :class:`SnapshotNotFound`, :class:`UsageError` if it is a baseline.

    Raises :class:`StaleBaseline` unless its digest begins with ``digest``.
    """
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        check_digest(release, digest)
        store.forget(release, actor or user(), reason)
    return release


def db_vacuum(*, database: Database = None) -> VacuumedStore:
    """Give free space back to the disk. A server keeps space for later rows, and may have grown."""
    with using(database, write=True) as store:
        before, after = store.vacuum()
    return VacuumedStore(before, after, max(0, before - after))


class AuditQuery(Given, frozen=True, kw_only=True):
    """Which records of the audit are wanted: of a library, by somebody, of an action such as ``ingest``, of a time.

    ``since`` is the first moment, and ``until`` the first after the time. ``skip`` leaves out the newest.
    """

    library: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None
    skip: int = 0

    def wants(self, record: AuditRecord) -> bool:
        """Whether a record is one of them, as far as its library does not matter."""
        return (
            self.actor in {"", record.actor}
            and self.action in {"", record.action}
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
        )


EVERY_RECORD = AuditQuery()


def db_audit(
    *, limit: int = 100, query: AuditQuery = EVERY_RECORD, database: Database = None
) -> tuple[AuditRecord, ...]:
    """The changes of the database that ``query`` wants, newest first, ``limit`` at most.

    Raises :class:`SnapshotNotFound` for an unknown library.
    """
    with using(database) as store:
        if query == EVERY_RECORD:
            return store.audit(limit)
        of_library = store.audit_of(query.library) if query.library else None
        wanted = (one for one in store.audit_records() if query.wants(one) and (not of_library or of_library(one)))
        return tuple(islice(wanted, query.skip, query.skip + limit))
