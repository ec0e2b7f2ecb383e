"""Who did what: one record a mutation, in the same transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import bindparam, insert, literal, select, update

from abistore.model.digest import digest, encode
from abistore.model.history import AuditRecord
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.database.tables import audit, root
from abistore.urls import masked

_END = select(root.c.audit).with_for_update()
_RECORD = insert(audit)
_MOVE_END = update(root)
_LAST = (
    select(audit.c.at, audit.c.actor, audit.c.action, audit.c.subject, audit.c.detail, audit.c.digest, root.c.audit)
    .select_from(root.outerjoin(audit, literal(True)))
    .order_by(audit.c.id.desc())
    .limit(bindparam("most"))
)
_NEXT = (
    select(audit.c.id, audit.c.digest, audit.c.at, audit.c.actor, audit.c.action, audit.c.subject, audit.c.detail)
    .where(audit.c.id > bindparam("last"))
    .order_by(audit.c.id)
    .limit(5000)
)


def now() -> str:
    """This moment as the store writes it: ISO 8601, UTC, microseconds, always of one length."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """``moment`` as the store writes it; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")


def record(database: Database, actor: str, action: str, subject: str, detail: str) -> None:
    """Note a mutation, as the last statement of its transaction: all writers meet at the end of the chain."""
    ((before,),) = database.rows(_END)
    said = (now(), actor, action, subject, masked(detail))
    after = link(before, said)
    database.run(
        _RECORD, dict(zip(("at", "actor", "action", "subject", "detail"), said, strict=True)) | {"digest": after}
    )
    database.run(_MOVE_END, {"audit": after})


def link(before: bytes, said: Sequence[str]) -> bytes:
    """The digest of a row that says ``said`` after the row with the digest ``before`` (empty: the first one)."""
    return digest(encode((before, *said)))


def records(database: Database, limit: int = 100) -> tuple[AuditRecord, ...]:
    """The last ``limit`` mutations, newest first. Raises :class:`StoreError` where one was changed or taken away."""
    rows = database.rows(_LAST, {"most": limit + 1})
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
    before, last = b"", -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        for _, found, *said in rows:
            if link(before, said) != found:
                raise damaged(database.where, f"the audit was changed, or lacks a row, at {said[0]}")
            before = found
    records(database, 1)  # the chain ends where the root says
