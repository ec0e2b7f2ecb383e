"""Bringing an older store to the newest schema, with a backup beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import abistore
from abistore.errors import SchemaMismatch, StoreError
from abistore.model.history import StoreUpgrade
from abistore.store.database.audit import record
from abistore.store.database.connect import connect
from abistore.store.database.copying import copy_beside
from abistore.store.database.database import Database
from abistore.store.database.schema import HEAD, revision
from abistore.store.releases.settling import SCHEMES_OF_LINES, settle

if TYPE_CHECKING:
    from sqlalchemy import Connection


def upgrade(url_or_path: str | Path, busy_seconds: float = 60) -> StoreUpgrade:
    """Upgrade a store to the newest schema; nothing is done, and no backup taken, where it has it.

    Raises :class:`SchemaMismatch` where the store is newer or none, :class:`StoreError` where it cannot be written.
    """
    database = connect(url_or_path, write=True, create=False, busy_seconds=busy_seconds, settle=True)
    try:
        found = revision(database)
        if found is None:
            raise StoreError(f"{database.where}: the database is empty", "create a store with `abistore db init`")
        refuse_newer(database, found)
        return StoreUpgrade(found, found, None) if found == HEAD else bring_up(database)
    finally:
        database.close()


def refuse_newer(database: Database, found: str) -> None:
    """Raise :class:`SchemaMismatch` where the store was written by a newer abistore."""
    if found > HEAD:
        message = f"{database.where}: the store has the newer schema {found}, this abistore writes {HEAD}"
        raise SchemaMismatch(message, "use the abistore that wrote it, or a newer one")


def bring_up(database: Database) -> StoreUpgrade:
    """Migrate to the newest schema, all or nothing; an SQLite file is copied first."""
    with database.rebuilding():
        database.hold_schema()
        found = revision(database)
        if found is None or found == HEAD:
            return StoreUpgrade(HEAD, HEAD, None)
        backup = copy_beside(database, found) if database.path else None
        with database.translated():
            _migrate(database.connection)
        if revision(database) != HEAD:
            message = f"{database.where}: the upgrade did not lead to schema {HEAD}"
            raise SchemaMismatch(message, "the store is as before")
        if found < SCHEMES_OF_LINES:
            settle(database)
        record(database, "", "upgrade", "store", f"schema {HEAD}; was {found}")
    return StoreUpgrade(found, HEAD, str(backup) if backup else None)


def migrations() -> Path:
    """The folder of the migrations: in the package where it was installed, beside it in a checkout."""
    package = Path(abistore.__file__).parent
    installed = package / "migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def _migrate(connection: Connection) -> None:
    from alembic import command  # importing Alembic costs more than most commands take
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
