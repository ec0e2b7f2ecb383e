"""Which schema a database has, and giving an empty one ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from abistore.errors import SchemaMismatch, StoreBusy
from abistore.store.database.audit import record
from abistore.store.database.database import Database

HEAD: Final = "0007"
"""The newest revision in ``migrations/``. Revisions are consecutive four-digit numbers, so that age is comparable."""

VERSION_TABLE: Final = "abistore_version"
"""Where Alembic keeps the revision; its presence is also what tells a store from anybody else's database."""

APPLICATION_ID: Final = 0x61626973
"""SQLite's ``application_id`` of a store: ``abis``."""


def revision(database: Database) -> str | None:
    """The schema revision that the database carries; ``None`` where it is empty.

    Raises :class:`SchemaMismatch` where it is not a store.
    """
    if database.is_sqlite:
        (identity,) = database.rows("PRAGMA application_id")[0]
        tables = {row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        foreign = identity not in {0, APPLICATION_ID} or (tables and VERSION_TABLE not in tables)
    else:
        statement = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
        tables = {row[0] for row in database.rows(statement)}
        foreign = bool(tables) and VERSION_TABLE not in tables
    if foreign:
        raise SchemaMismatch(f"{database.where}: a database of another program", "give the path of a store")
    if not tables:
        return None
    rows = database.rows(f"SELECT version_num FROM {VERSION_TABLE}")
    if len(rows) != 1 or not (len(rows[0][0]) == 4 and rows[0][0].isdecimal()):
        raise SchemaMismatch(f"{database.where}: the schema's revision is not readable", "restore a backup")
    return str(rows[0][0])


def create_schema(database: Database) -> bool:
    """Make an empty database a store; false where another process was faster."""
    if database.is_sqlite:
        use_write_ahead_log(database)
        with database.transaction():
            return _create(database, _create_sqlite_tables)
    from abistore.store.database.tables import metadata

    with database.alchemy() as connection, database.transaction():
        return _create(database, lambda _: metadata.create_all(connection, checkfirst=False))


def _create(database: Database, create_tables: Callable[[Database], None]) -> bool:
    hold_schema(database)
    if revision(database) is not None:
        return False
    create_tables(database)
    database.run(
        f"CREATE TABLE {VERSION_TABLE} "
        f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
    )
    database.run(f"INSERT INTO {VERSION_TABLE} (version_num) VALUES (?)", (HEAD,))
    database.run("INSERT INTO root (id, libraries, audit) VALUES (1, 0, ?)", (b"",))
    record(database, "", "create", "store", f"schema {HEAD}")
    return True


def _create_sqlite_tables(database: Database) -> None:
    database.run(f"PRAGMA application_id = {APPLICATION_ID}")
    # what SQLAlchemy makes of `tables`, written down: importing it takes longer than all else here
    for statement in Path(__file__).with_name("sqlite.sql").read_text().split(";\n"):
        database.run(statement)


def hold_schema(database: Database) -> None:
    """Keep other sessions from creating or upgrading the schema until the transaction ends."""
    if not database.is_sqlite:
        database.run("SELECT pg_advisory_xact_lock(?)", (APPLICATION_ID,))


def use_write_ahead_log(database: Database) -> None:
    """Switch the journal; the driver does not wait for other processes that do the same at this moment."""
    deadline = time.monotonic() + 30
    while True:
        try:
            database.rows("PRAGMA journal_mode = WAL")
            return
        except StoreBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
