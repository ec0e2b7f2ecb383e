"""Keeping a line as it is until a transaction ends: what was read of it stays true until it is written."""

from __future__ import annotations

from abistore.model.history import LineKey
from abistore.store.database.database import Database
from abistore.store.releases.lines import new_library


def hold(database: Database, key: LineKey) -> int:
    """The line's id, created where it is new; other writers of the line wait until the transaction ends."""
    database.run(
        "INSERT INTO library (name, scheme, lines, checksum) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        new_library(key.library),
    )
    database.run(
        "INSERT INTO line (library_id, target, profile, releases, candidates, moves, checksum) "
        "SELECT id, ?, ?, 0, 0, 0, 0 FROM library WHERE name = ? ON CONFLICT DO NOTHING",
        (key.target, key.profile, key.library),
    )
    identifier = hold_stored(database, key)
    assert identifier is not None
    return identifier


def hold_stored(database: Database, key: LineKey) -> int | None:
    """The id of a line that is stored, held as :func:`hold` does; ``None`` where there is none."""
    # an SQLite transaction is the database's one writer anyway
    lock = "" if database.is_sqlite else " FOR UPDATE OF line"
    rows = database.rows(
        "SELECT line.id FROM line JOIN library ON library.id = line.library_id "
        f"WHERE library.name = ? AND line.target = ? AND line.profile = ?{lock}",
        (key.library, key.target, key.profile),
    )
    return int(rows[0][0]) if rows else None
