"""Reviews: what people say of findings, without effect on any verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from abistore.model.history import FindingReview
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database
from abistore.store.history.sealed import SealedLedger

_LEDGER = SealedLedger(tables.review, "reviews", ("identity", "state", "note", "actor", "reviewed"))


def add(database: Database, said: FindingReview) -> bool:
    """Note a review; false where the same was said last. Raises :class:`SnapshotNotFound` for an unknown library."""
    return add_all(database, [said])[0]


def add_all(database: Database, said: Sequence[FindingReview]) -> tuple[bool, ...]:
    """Note several reviews, all or none."""
    with database.transaction():
        last = {(one.library, one.identity): (one.state, one.note) for one in every(database)}
        done = []
        for one in said:
            key, words = (one.library, one.identity), (one.state, one.note)
            done.append(last.get(key) != words)
            if done[-1]:
                append(database, one)
                detail = "; ".join(filter(None, words))
                record(database, one.actor, "review", f"{one.library} {one.identity}", detail)
                last[key] = words
        return tuple(done)


def append(database: Database, said: FindingReview) -> None:
    """Write a review, whatever was said before."""
    _LEDGER.append(database, said.library, (said.identity, said.state, said.note, said.actor, stamp(said.reviewed)))


def every(database: Database) -> tuple[FindingReview, ...]:
    """All reviews, oldest first. Raises :class:`StoreError` where one was changed or taken away."""
    return tuple(
        FindingReview(library, identity, state, note, actor, datetime.fromisoformat(reviewed))
        for library, identity, state, note, actor, reviewed in _LEDGER.rows(database, "a review")
    )
