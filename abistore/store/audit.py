"""Who did what: one record a mutation, in the same transaction."""

from __future__ import annotations

from datetime import UTC, datetime

from abistore.model.history import AuditRecord
from abistore.store.database import Database
from abistore.urls import masked


def now() -> str:
    """This moment as the store writes it: ISO 8601, UTC, microseconds, always of one length."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """``moment`` as the store writes it; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")


def record(database: Database, actor: str, action: str, subject: str, detail: str) -> None:
    """Note a mutation."""
    statement = "INSERT INTO audit (at, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)"
    database.run(statement, (now(), actor, action, subject, masked(detail)))


def records(database: Database, limit: int) -> tuple[AuditRecord, ...]:
    """The last ``limit`` mutations, newest first."""
    statement = "SELECT at, actor, action, subject, detail FROM audit ORDER BY id DESC LIMIT ?"
    return tuple(AuditRecord(datetime.fromisoformat(row[0]), *row[1:]) for row in database.rows(statement, (limit,)))
