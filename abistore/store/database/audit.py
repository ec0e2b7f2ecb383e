"""Who did what: one record a mutation, in the same transaction."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import bindparam, insert, literal, select, update

from abistore.model.digest import digest, encode
from abistore.model.history import AuditRecord
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.database.tables import audit, root
from abistore.urls import masked

_END = select(root.c.audit).with_for_update()
_SAID = ("at", "actor", "action", "subject", "detail")
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

_TAKEN = re.compile(r"(.*) of ([0-9a-f]{32})")
"""The action of a record that came from another store: what it was there, and the digest that it had."""


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
    database.run(_RECORD, dict(zip((*_SAID, "digest"), (*said, after), strict=True)))
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
    return tuple(_record(row) for row in kept[:limit])


def _record(row: Sequence[str]) -> AuditRecord:
    at, actor, action, subject, detail, *_ = row
    taken = _TAKEN.fullmatch(action)
    action, origin = taken.groups() if taken else (action, "")
    return AuditRecord(datetime.fromisoformat(at), actor, action, subject, detail, origin)


def every(database: Database) -> Iterator[tuple[str, Sequence[str]]]:
    """All records, oldest first, as the store has them where they were written: the digest there, and what they say.

    Raises :class:`StoreError` where one was changed or taken away.
    """
    verify(database)
    last = -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        for _, found, at, actor, action, subject, detail in rows:
            taken = _TAKEN.fullmatch(action)
            action, origin = taken.groups() if taken else (action, bytes(found).hex())
            yield origin, (at, actor, action, subject, detail)


def concerns(subject: str, libraries: Collection[str], digests: Collection[str]) -> bool:
    """Whether a record's subject is one of these libraries, or something of it, or names one of these contents."""
    return re.split(r"[@ ]", subject)[0] in libraries or any(word in digests for word in subject.split(" "))


def take_over(database: Database, told: Sequence[tuple[str, Sequence[str]]]) -> int:
    """Note what the audit of another store says, as far as it is not known; how many records that were."""
    known = {origin for origin, _ in every(database)}
    new = [(origin, said) for origin, said in told if origin not in known]
    ((before,),) = database.rows(_END)
    rows = []
    for origin, (at, actor, action, subject, detail) in new:
        said = (at, actor, f"{action} of {origin}", subject, masked(detail))
        before = link(before, said)
        rows.append(dict(zip((*_SAID, "digest"), (*said, before), strict=True)))
    database.many(_RECORD, rows)
    database.run(_MOVE_END, {"audit": before})
    return len(new)


def all_records(database: Database) -> Iterator[AuditRecord]:
    """All mutations, oldest first. Raises :class:`StoreError` where one was changed or taken away."""
    verify(database)
    last = -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        yield from (_record(row[2:]) for row in rows)


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
