"""What an administrator asks of a store: how much does it hold, give back free space."""

from __future__ import annotations

from abistore.model.history import StoreStats
from abistore.store.database.database import Database
from abistore.store.database.schema import revision
from abistore.store.releases import cards


def stats(database: Database) -> StoreStats:
    """How much the store holds."""
    counted = ("library", "line", "name", "shape", "entry", "verdict", "audit")
    counts = {table: int(database.rows(f"SELECT count(*) FROM {table}")[0][0]) for table in counted}
    selected = (cards.RELEASES, "snapshot.superseded = 1", cards.CANDIDATES)
    releases, superseded, candidates = (
        int(database.rows(f"SELECT count(*) FROM snapshot WHERE {condition}")[0][0]) for condition in selected
    )
    return StoreStats(
        revision=revision(database) or "",
        size=size(database),
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


def size(database: Database) -> int:
    """The database's size in bytes, its log included."""
    if database.path is None:
        return int(database.rows("SELECT pg_database_size(current_database())")[0][0])
    files = (database.path, database.path.with_name(database.path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def vacuum(database: Database) -> tuple[int, int]:
    """Give free space back to the disk: the size in bytes before and after."""
    before = size(database)
    database.run("VACUUM")
    if database.is_sqlite:
        database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return before, size(database)
