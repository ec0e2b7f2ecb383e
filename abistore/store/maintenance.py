"""What an administrator asks of a store: is it sound, how much does it hold, give back free space."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.errors import StoreError
from abistore.model.digest import digest, snapshot_digest
from abistore.model.history import Release, StoreStats
from abistore.store import cards
from abistore.store.database import Database
from abistore.store.memory import Memory
from abistore.store.read import load_many
from abistore.store.schema import revision

_BATCH = 5000


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


def check(database: Database) -> tuple[str, ...]:
    """Everything that is wrong with the store, a sentence each; empty where it is sound.

    The database's own structure, the digest of every shape, and of every snapshot as it loads.
    """
    found: list[str] = []
    try:
        found += _structure(database)
        if not found:
            found += _shapes(database)
            found += _snapshots(database)
    except StoreError as error:
        found.append(error.message)
    return tuple(found)


def vacuum(database: Database) -> tuple[int, int]:
    """Give free space back to the disk: the size in bytes before and after."""
    before = size(database)
    database.run("VACUUM")
    if database.is_sqlite:
        database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return before, size(database)


def _structure(database: Database) -> Iterator[str]:
    if not database.is_sqlite:
        return
    for (message,) in database.rows("PRAGMA integrity_check"):
        if message != "ok":
            yield f"database: {message}"
    for table, row, parent, _ in database.rows("PRAGMA foreign_key_check"):
        yield f"database: row {row} of {table} refers to nothing in {parent}"


def _shapes(database: Database) -> Iterator[str]:
    last = 0
    statement = "SELECT id, digest, body FROM shape WHERE id > ? ORDER BY id LIMIT ?"
    while rows := database.rows(statement, (last, _BATCH)):
        for identifier, key, body in rows:
            if digest(body.encode()) != key:
                yield f"shape {key.hex()}: its body has another digest"
            last = identifier


def _snapshots(database: Database) -> Iterator[str]:
    for release in cards.find(database, "1 = 1", ()):
        problem = _snapshot_problem(database, release)
        if problem:
            yield f"{release.line} {release.version}, sequence {release.sequence}: {problem}"


def _snapshot_problem(database: Database, release: Release) -> str | None:
    try:
        snapshot = load_many(database, [release], Memory())[0]
    except StoreError as error:
        return error.message
    found = snapshot_digest(snapshot).hex()
    return None if found == release.digest else f"loads with the digest {found}, stored was {release.digest}"
