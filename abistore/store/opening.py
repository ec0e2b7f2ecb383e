"""Opening a store: of this schema, or created or upgraded where the caller allows."""

from __future__ import annotations

from pathlib import Path

from abistore.errors import SchemaMismatch, StoreError
from abistore.store.database.connect import connect
from abistore.store.database.database import Database
from abistore.store.database.reading_others import check_readable, fill_in
from abistore.store.database.schema import HEAD, create_schema, revision
from abistore.store.upgrade import bring_up, refuse_newer


def open_store(
    url_or_path: str | Path, *, write: bool, create: bool, busy_seconds: float, upgrade: bool = True
) -> Database:
    """Open a store of this schema, or one that can be read; see :meth:`abistore.store.store.Store.open`."""
    database = connect(url_or_path, write=write, create=create, busy_seconds=busy_seconds)
    try:
        _bring_to_head(database, write=write, create=create, upgrade=upgrade)
    except BaseException:
        database.close()
        raise
    return database


def initialise(url_or_path: str | Path, busy_seconds: float = 60) -> tuple[bool, Path | None]:
    """Make sure that there is a store; whether it was created just now, and the folder made for it.

    Raises :class:`StoreError`.
    """
    database = connect(url_or_path, write=True, create=True, busy_seconds=busy_seconds)
    try:
        created = revision(database) is None and create_schema(database)
        _bring_to_head(database, write=True, create=False, upgrade=True)
        return created, database.new_folder
    finally:
        database.close()


def _bring_to_head(database: Database, *, write: bool, create: bool, upgrade: bool) -> None:
    found = revision(database)
    if found is None:
        if not (create and database.writable):
            raise StoreError(f"{database.where}: the database is empty", "create a store with `abistore db init`")
        create_schema(database)
    elif found != HEAD and not write:
        check_readable(database, found)
        fill_in(database)
    elif found != HEAD:
        refuse_newer(database, found)
        if not (upgrade and database.path):
            message = f"{database.where}: the store has the older schema {found}, this abistore writes {HEAD}"
            raise SchemaMismatch(message, "run `abistore db upgrade`")
        bring_up(database)
