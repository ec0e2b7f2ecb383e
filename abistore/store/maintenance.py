"""What an administrator asks of a store: how much does it hold, give back free space."""

from __future__ import annotations

from sqlalchemy import func, select

from abistore.model.history import StoreStats
from abistore.store.database import tables
from abistore.store.database.database import Database
from abistore.store.database.schema import revision
from abistore.store.releases import cards


def stats(database: Database) -> StoreStats:
    """How much the store holds."""
    counted = select(func.count())
    tables_ = (tables.library, tables.line, tables.name, tables.shape, tables.entry, tables.verdict, tables.audit)
    counts = {table.name: int(database.rows(counted.select_from(table))[0][0]) for table in tables_}
    selected = (cards.RELEASES, cards.SNAPSHOT.superseded == 1, cards.CANDIDATES)
    releases, superseded, candidates = (
        int(database.rows(counted.select_from(tables.snapshot).where(condition))[0][0]) for condition in selected
    )
    return StoreStats(
        revision=revision(database) or "",
        size=database.size(),
        libraries=counts["library"],
        lines=counts["line"],
        releases=releases,
        superseded=superseded,
        candidates=candidates,
        names=counts["name"],
        shapes=counts["shape"],
        entries=counts["entry"],
        verdicts=counts["verdict"],
        audit_records=counts["audit"],
    )


def vacuum(database: Database) -> tuple[int, int]:
    """Give free space back to the disk: the size in bytes before and after."""
    before = database.size()
    database.vacuum()
    return before, database.size()
