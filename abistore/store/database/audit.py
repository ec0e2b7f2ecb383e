"""Who did what: one record a mutation, in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from abistore.model.digest import digest, encode
from abistore.model.history import AuditRecord
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.urls import masked


def now() -> str:
    """This moment as the store writes it: ISO 8601, UTC, microseconds, always of one length."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """``moment`` as the store writes it; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")


def record(database: Database, actor: str, action: str, subject: str, detail: str) -> None:
    """Note a mutation, as the last statement of its transaction: all writers meet at the end of the chain."""
    lock = "" if database.is_sqlite else " FOR UPDATE"
    ((before,),) = database.rows(f"SELECT audit FROM root{lock}")
    said = (now(), actor, action, subject, masked(detail))
    after = link(before, said)
    statement = "INSERT INTO audit (at, actor, action, subject, detail, digest) VALUES (?, ?, ?, ?, ?, ?)"
    database.run(statement, (*said, after))
    database.run("UPDATE root SET audit = ?", (after,))


def link(before: bytes, said: Sequence[str]) -> bytes:
    """The digest of a row that says ``said`` after the row with the digest ``before`` (empty: the first one)."""
    return digest(encode((before, *said)))


def records(database: Database, limit: int) -> tuple[AuditRecord, ...]:
    """The last ``limit`` mutations, newest first. Raises :class:`StoreError` where one was changed or taken away."""
    statement = (
        "SELECT audit.at, audit.actor, audit.action, audit.subject, audit.detail, audit.digest, root.audit "
        "FROM root LEFT JOIN audit ON 1 = 1 ORDER BY audit.id DESC LIMIT ?"
    )
    rows = database.rows(statement, (limit + 1,))
    expected = rows[0][-1] if rows else None
    kept = [row for row in rows if row[0] is not None]
    if not kept and expected != b"":
        raise damaged(database.where, "the audit is missing")
    for number, row in enumerate(kept[:limit]):
        before = kept[number + 1][5] if number + 1 < len(kept) else b""
        if row[5] != expected or link(before, row[:5]) != expected:
            raise damaged(database.where, f"the audit was changed, or lacks a row, at {row[0]}")
        expected = before
    return tuple(AuditRecord(datetime.fromisoformat(row[0]), *row[1:5]) for row in kept[:limit])


def verify(database: Database) -> None:
    """Follow the whole chain. Raises :class:`StoreError` where a row was changed or taken away."""
    statement = "SELECT id, digest, at, actor, action, subject, detail FROM audit WHERE id > ? ORDER BY id LIMIT 5000"
    before, last = b"", -1
    while rows := database.rows(statement, (last,)):
        last = rows[-1][0]
        for _, found, *said in rows:
            if link(before, said) != found:
                raise damaged(database.where, f"the audit was changed, or lacks a row, at {said[0]}")
            before = found
    records(database, 1)  # the chain ends where the root says
