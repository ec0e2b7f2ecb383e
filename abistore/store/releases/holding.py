"""Keeping a line as it is until a transaction ends: what was read of it stays true until it is written."""

from __future__ import annotations

from sqlalchemy import Text, bindparam, literal, select

from abistore.model.history import LineKey
from abistore.store.database import tables
from abistore.store.database.database import Database
from abistore.store.database.on_conflict import insert_new
from abistore.store.releases.lines import NEW_LIBRARY, OF_LIBRARY, OF_LINE, labels, new_library

_NEW_LINE = insert_new(tables.line).from_select(
    ["library_id", "target", "profile", "releases", "candidates", "moves", "checksum"],
    select(
        tables.library.c.id, bindparam("target", type_=Text), bindparam("profile", type_=Text), *(literal(0),) * 4
    ).where(OF_LIBRARY),
)
_HELD = (
    select(tables.line.c.id)
    .select_from(tables.line.join(tables.library))
    .where(OF_LINE)
    .with_for_update(of=tables.line)
)


def hold(database: Database, key: LineKey) -> int:
    """The line's id, created where it is new; other writers of the line wait until the transaction ends."""
    database.run(NEW_LIBRARY, new_library(key.library))
    database.run(_NEW_LINE, labels(key))
    identifier = hold_stored(database, key)
    assert identifier is not None
    return identifier


def hold_stored(database: Database, key: LineKey) -> int | None:
    """The id of a line that is stored, held as :func:`hold` does; ``None`` where there is none."""
    database.keep_tables_free()
    rows = database.rows(_HELD, labels(key))
    return int(rows[0][0]) if rows else None
