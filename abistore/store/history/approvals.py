"""Approvals: the breaks that people accepted. Nothing is ever taken out: withdrawing is a row too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from abistore.model.history import DEFAULT_PROFILE
from abistore.model.judging.approvals import Approval, ApprovedFacts, in_words
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database
from abistore.store.history.sealed import SealedLedger

_COLUMNS = ("identity", "facts", "scope", "until", "reason", "ticket", "approver", "actor", "approved", "origin")
_ADDED = ("target", "stood_at", "profile")
_UNSAID = {"target": "", "stood_at": "", "profile": DEFAULT_PROFILE}
"""What a value is that no row tells."""

_LEDGER = SealedLedger(tables.approval, "approvals", (*_COLUMNS, "withdrawn"), _ADDED)


def add(database: Database, said: Sequence[Approval]) -> tuple[bool, ...]:
    """Write approvals down, all or none; false for each that says what the last one of its key said.

    Raises :class:`SnapshotNotFound` for an unknown library.
    """
    with database.transaction():
        known = {one.key: one for one in every(database)}
        done = []
        for one in said:
            last = known.get(one.key)
            done.append(last is None or last.terms != one.terms)
            if done[-1]:
                append(database, one)
                record(database, one.actor, *_audited(one, last))
                known[one.key] = one
        return tuple(done)


def _audited(one: Approval, last: Approval | None) -> tuple[str, str, str]:
    """What the audit says of an approval: the action, the finding, and the details, with what it replaces."""
    replaces = last is not None and not last.withdrawn and not one.withdrawn
    replaced = f"replaces what was approved {in_words(last)}: {last.reason}" if last and replaces else ""
    told = in_words(one), one.reason, one.origin and f"from {one.origin}", replaced
    action = "withdraw" if one.withdrawn else "approve"
    return action, f"{one.library} {one.identity}", "; ".join(filter(None, told))


def append(database: Database, one: Approval) -> None:
    """Write an approval, whatever was approved before. Raises :class:`SnapshotNotFound` for an unknown library."""
    added = (None if (said := getattr(one, column)) == _UNSAID[column] else said for column in _ADDED)
    values = (*(_packed(one, column) for column in _COLUMNS), int(one.withdrawn), *added)
    _LEDGER.append(database, one.library, values)


def _packed(one: Approval, column: str) -> str | None:
    if column == "facts":
        return msgspec.json.encode(one.facts).decode() if one.facts else None
    return stamp(one.approved) if column == "approved" else str(getattr(one, column))


def every(database: Database) -> tuple[Approval, ...]:
    """All that was approved and withdrawn, oldest first. Raises :class:`StoreError` where a row is not as written."""
    return tuple(map(_read, _LEDGER.rows(database, "an approval")))


def _read(values: Sequence[Any]) -> Approval:
    told = dict(zip(("library", *_COLUMNS, "withdrawn", *_ADDED), values, strict=True))
    told |= {column: told[column] or _UNSAID[column] for column in _ADDED}
    facts = msgspec.json.decode(told["facts"], type=ApprovedFacts) if told["facts"] is not None else None
    moment = datetime.fromisoformat(told["approved"])
    return Approval(**told | {"facts": facts, "approved": moment, "withdrawn": bool(told["withdrawn"])})
