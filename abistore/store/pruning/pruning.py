"""Pruning a store, in one transaction: what is chosen is what is removed."""

from __future__ import annotations

from datetime import datetime

from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.pruning.choosing import Prunable, keys, prunable
from abistore.store.pruning.removing import LOCKED, remove


def chosen(database: Database, library: str | None, *, keep_last: int, before: datetime | None) -> tuple[Prunable, ...]:
    """What may go of a library, or of all: of each line all but the last, and with ``before`` what was stored by then.

    In the order of libraries, lines and ingestion.
    """
    return tuple(
        each
        for key in keys(database, library)
        for each in prunable(database, key, keep_last)
        if before is None or each.release.ingested < before
    )


def prune(
    database: Database, library: str | None, *, keep_last: int, before: datetime | None, actor: str, reason: str
) -> tuple[Prunable, ...]:
    """Remove what may go, in one transaction, with a record in the audit for each snapshot; what it was."""
    with database.transaction():
        database.hold_tables(LOCKED)
        found = chosen(database, library, keep_last=keep_last, before=before)
        remove(database, [each.row for each in found])
        for each in found:
            release = each.release
            subject = f"{release.reference} ({release.line.target}, {release.line.profile})"
            detail = f"{each.reason}; digest {release.digest} sequence {release.sequence}"
            record(database, actor, "prune", subject, "; ".join(filter(None, (detail, reason))))
    return found
