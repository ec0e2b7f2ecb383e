"""Reviews: what people say of findings, without effect on any verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.model.history import FindingReview
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database
from abistore.store.database.seals import checksum
from abistore.store.history.sealed import sealed_rows

_REVIEW, _LIBRARY, _ROOT = tables.review.c, tables.library.c, tables.root.c
_SAID = (_LIBRARY.name, _REVIEW.identity, _REVIEW.state, _REVIEW.note, _REVIEW.actor, _REVIEW.reviewed)
_EVERY = (
    select(_ROOT.reviews, _REVIEW.id, *_SAID, _REVIEW.checksum)
    .select_from(tables.root.outerjoin(tables.review.join(tables.library), _ROOT.id == 1))
    .order_by(_REVIEW.id)
)
_LIBRARY_ID = select(_LIBRARY.id).where(_LIBRARY.name == bindparam("library"))
_INSERT = insert(tables.review)
_SEAL = update(tables.review).where(_REVIEW.id == bindparam("identifier"))
_COUNT = update(tables.root).values(reviews=_ROOT.reviews + bindparam("seal"))


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
    rows = database.rows(_LIBRARY_ID, {"library": said.library})
    if not rows:
        raise SnapshotNotFound(f"{said.library}: no such library in {database.where}")
    values = (said.identity, said.state, said.note, said.actor, stamp(said.reviewed))
    columns = dict(zip(("identity", "state", "note", "actor", "reviewed"), values, strict=True))
    identifier = database.insert(_INSERT, {"library_id": rows[0][0], **columns, "checksum": 0})
    seal = checksum(identifier, said.library, *values)
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(_COUNT, {"seal": seal})


def every(database: Database) -> tuple[FindingReview, ...]:
    """All reviews, oldest first. Raises :class:`StoreError` where one was changed or taken away."""
    return tuple(
        FindingReview(library, identity, state, note, actor, datetime.fromisoformat(reviewed))
        for library, identity, state, note, actor, reviewed in sealed_rows(database, _EVERY, "a review")
    )
