"""What an administrator does with the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from abistore.model.history import AuditRecord, Release, StoreStats, StoreUpgrade
from abistore.service.database import Database, busy_seconds, line_target, locate, user, using
from abistore.urls import masked


class InitialisedStore(msgspec.Struct, frozen=True):
    """Where the store is, with no password, and whether it was created just now."""

    database: str
    created: bool


class VacuumedStore(msgspec.Struct, frozen=True):
    """The database's size in bytes before and after, and how many of them the disk has back."""

    before: int
    after: int
    freed: int


def db_init(*, database: Database = None) -> InitialisedStore:
    """Make sure that there is a store. Raises :class:`StoreError`."""
    from abistore.store.opening import initialise

    where = locate(database)
    return InitialisedStore(masked(where), initialise(where, busy_seconds()))


def db_upgrade(*, database: Database = None) -> StoreUpgrade:
    """Bring the store to this abistore's schema, with a backup beside it. Raises :class:`SchemaMismatch`."""
    from abistore.store.upgrade import upgrade

    return upgrade(locate(database), busy_seconds())


def db_check(
    *, quick: bool = False, database: Database = None, progress: Callable[[str, float], None] | None = None
) -> tuple[str, ...]:
    """Everything that is wrong with the store, a sentence each; empty where it is sound.

    ``quick`` looks at the database's structure, the sums over its rows and the audit only.
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
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Release:
    """Take a stored release back. Raises :class:`SnapshotNotFound`, :class:`UsageError` where it is a baseline."""
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        store.forget(release, actor or user(), reason)
    return release


def db_vacuum(*, database: Database = None) -> VacuumedStore:
    """Give free space back to the disk; a server keeps what it may need again, and may have grown."""
    with using(database, write=True) as store:
        before, after = store.vacuum()
    return VacuumedStore(before, after, max(0, before - after))


def db_audit(*, limit: int = 100, database: Database = None) -> tuple[AuditRecord, ...]:
    """The last ``limit`` mutations, newest first."""
    with using(database) as store:
        return store.audit(limit)
