"""Approvals: the breaks that people accepted. Nothing is ever taken out: withdrawing is a row too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.model.judging.approvals import Approval, ApprovedFacts, in_words
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database
from abistore.store.database.seals import checksum
from abistore.store.history.sealed import sealed_rows

_APPROVAL, _LIBRARY, _ROOT = tables.approval.c, tables.library.c, tables.root.c
_COLUMNS = ("identity", "facts", "scope", "until", "reason", "ticket", "approver", "actor", "approved", "origin")
_SAID = (_LIBRARY.name, *(_APPROVAL[column] for column in _COLUMNS), _APPROVAL.withdrawn)
_EVERY = (
    select(_ROOT.approvals, _APPROVAL.id, *_SAID, _APPROVAL.checksum)
    .select_from(tables.root.outerjoin(tables.approval.join(tables.library), _ROOT.id == 1))
    .order_by(_APPROVAL.id)
)
_LIBRARY_ID = select(_LIBRARY.id).where(_LIBRARY.name == bindparam("library"))
_INSERT = insert(tables.approval)
_SEAL = update(tables.approval).where(_APPROVAL.id == bindparam("identifier"))
_COUNT = update(tables.root).values(approvals=_ROOT.approvals + bindparam("seal"))


def add(database: Database, said: Sequence[Approval]) -> tuple[bool, ...]:
    """Write approvals down, all or none; false for each that says what the last one of its key said.

    Raises :class:`SnapshotNotFound` for an unknown library.
    """
    with database.transaction():
        last = {one.key: one.terms for one in every(database)}
        done = []
        for one in said:
            done.append(last.get(one.key) != one.terms)
            if done[-1]:
                append(database, one)
                detail = "; ".join(filter(None, (in_words(one), one.reason, one.origin and f"from {one.origin}")))
                action = "withdraw" if one.withdrawn else "approve"
                record(database, one.actor, action, f"{one.library} {one.identity}", detail)
                last[one.key] = one.terms
        return tuple(done)


def append(database: Database, one: Approval) -> None:
    """Write an approval, whatever was approved before. Raises :class:`SnapshotNotFound` for an unknown library."""
    rows = database.rows(_LIBRARY_ID, {"library": one.library})
    if not rows:
        raise SnapshotNotFound(f"{one.library}: no such library in {database.where}")
    library = rows[0][0]
    values = (*(_packed(one, column) for column in _COLUMNS), int(one.withdrawn))
    columns = dict(zip((*_COLUMNS, "withdrawn"), values, strict=True))
    identifier = database.insert(_INSERT, {"library_id": library, **columns, "checksum": 0})
    seal = checksum(identifier, one.library, *values)
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(_COUNT, {"seal": seal})


def _packed(one: Approval, column: str) -> str | None:
    if column == "facts":
        return msgspec.json.encode(one.facts).decode() if one.facts else None
    return stamp(one.approved) if column == "approved" else str(getattr(one, column))


def every(database: Database) -> tuple[Approval, ...]:
    """All that was approved and withdrawn, oldest first. Raises :class:`StoreError` where a row is not as written."""
    return tuple(map(_read, sealed_rows(database, _EVERY, "an approval")))


def _read(values: Sequence[Any]) -> Approval:
    told = dict(zip(("library", *_COLUMNS, "withdrawn"), values, strict=True))
    facts = msgspec.json.decode(told["facts"], type=ApprovedFacts) if told["facts"] is not None else None
    moment = datetime.fromisoformat(told["approved"])
    return Approval(**told | {"facts": facts, "approved": moment, "withdrawn": bool(told["withdrawn"])})
