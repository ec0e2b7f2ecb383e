"""Stored judgements: immutable rows, each under the policy and the rules that gave it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from abistore.errors import StoreError
from abistore.model.findings import Verdict
from abistore.model.history import StoredVerdict
from abistore.store.audit import record, stamp
from abistore.store.database import Database, Row

_BATCH = 50
OPEN_END = 2**63 - 1
"""Greater than every row's ``id``."""

_COLUMNS = (
    "old_digest, new_digest, policy, engine, verdict, "
    "breaking, api_breaks, risk_changes, compatible, judged, comparison"
)


def find(database: Database, old_digest: str, new_digest: str, policy: str, engine: str) -> StoredVerdict | None:
    """The latest judgement of these two snapshots under this policy by this engine."""
    condition = "old_digest = ? AND new_digest = ? AND policy = ? AND engine = ?"
    found = _find(database, condition, (bytes.fromhex(old_digest), bytes.fromhex(new_digest), policy, engine))
    return found[-1] if found else None


def about(database: Database, old_digest: str | None, new_digest: str | None) -> tuple[StoredVerdict, ...]:
    """All judgements with these sides (``None``: any), oldest first."""
    sides = {"old_digest": old_digest, "new_digest": new_digest}
    given = {column: bytes.fromhex(digest) for column, digest in sides.items() if digest is not None}
    condition = " AND ".join(f"{column} = ?" for column in given) or "1 = 1"
    return tuple(_find(database, condition, tuple(given.values())))


def mentioning(database: Database, text: bytes) -> Iterator[StoredVerdict]:
    """The judgements whose comparison holds ``text``, newest first; a few are in memory at a time."""
    before = OPEN_END
    statement = f"SELECT id, {_COLUMNS} FROM verdict WHERE id < ? ORDER BY id DESC LIMIT ?"
    while rows := database.rows(statement, (before, _BATCH)):
        for identifier, *row in rows:
            before = identifier
            judgement = _verdict(row)
            if text in judgement.comparison:
                yield judgement


def save(database: Database, judgement: StoredVerdict, actor: str) -> None:
    """Remember a judgement; a no-op where the same one is the latest of its key."""
    with database.transaction():
        last = find(database, judgement.old_digest, judgement.new_digest, judgement.policy, judgement.engine)
        if last is not None and _said(last) == _said(judgement):
            return
        values = (
            bytes.fromhex(judgement.old_digest),
            bytes.fromhex(judgement.new_digest),
            *(judgement.policy, judgement.engine, int(judgement.verdict), judgement.breaking, judgement.api_breaks),
            *(judgement.risk_changes, judgement.compatible, stamp(judgement.judged)),
            zlib.compress(judgement.comparison),
        )
        places = ", ".join("?" * len(values))
        database.run(f"INSERT INTO verdict ({_COLUMNS}) VALUES ({places})", values)
        detail = f"{judgement.verdict.name} under {judgement.policy} by {judgement.engine}"
        record(database, actor, "verdict", f"{judgement.old_digest} {judgement.new_digest}", detail)


def _said(judgement: StoredVerdict) -> tuple[object, ...]:
    counts = (judgement.breaking, judgement.api_breaks, judgement.risk_changes, judgement.compatible)
    return (judgement.verdict, counts, judgement.comparison)


def _find(database: Database, condition: str, parameters: tuple[Any, ...]) -> list[StoredVerdict]:
    rows = database.rows(f"SELECT {_COLUMNS} FROM verdict WHERE {condition} ORDER BY id", parameters)
    return [_verdict(row) for row in rows]


def _verdict(row: Row) -> StoredVerdict:
    old, new, policy, engine, verdict, breaking, api_breaks, risk_changes, compatible, judged, comparison = row
    try:
        report = zlib.decompress(comparison)
    except zlib.error as error:
        raise StoreError(
            f"the stored comparison of {old.hex()} and {new.hex()} is damaged", "restore a backup"
        ) from error
    return StoredVerdict(
        old_digest=old.hex(),
        new_digest=new.hex(),
        policy=policy,
        engine=engine,
        verdict=Verdict(verdict),
        breaking=breaking,
        api_breaks=api_breaks,
        risk_changes=risk_changes,
        compatible=compatible,
        judged=datetime.fromisoformat(judged),
        comparison=report,
    )
