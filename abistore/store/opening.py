"""Opening a store, copying it, and bringing an older one to the newest schema."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import (
    Column,
    DefaultClause,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    create_mock_engine,
    insert,
)
from sqlalchemy.schema import ExecutableDDLElement

import abistore
from abistore.errors import SchemaMismatch, StoreError
from abistore.model.history import StoreUpgrade
from abistore.store.database import HEAD, Database, failure, record, revision
from abistore.store.engines import connect
from abistore.store.order import SCHEMES_OF_LINES, settle
from abistore.store.tables import Part, column_part, index_part, key_part, metadata, reference_part, root, version

if TYPE_CHECKING:
    from sqlalchemy import Connection


@cache
def _statements(dialect: str) -> tuple[str, ...]:
    """What makes all tables: spelled once, however many stores a process makes."""
    found: list[str] = []

    def note(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        found.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", note)
    metadata.create_all(engine, checkfirst=False)
    version.create(engine, checkfirst=False)
    return tuple(found)


def create_schema(database: Database) -> bool:
    """Make an empty database a store; false where another process was faster."""
    database.prepare()
    with database.transaction():
        database.hold_schema()
        if revision(database) is not None:
            return False
        database.mark()
        dialect = database.connection.dialect
        with database.translated():
            for statement in _statements(f"{dialect.name}+{dialect.driver}"):
                database.connection.exec_driver_sql(statement)
        database.run(insert(version), {"version_num": HEAD})
        database.run(insert(root), {"id": 1, "libraries": 0, "audit": b""})
        record(database, "", "create", "store", f"schema {HEAD}")
    return True


OLDEST_READ: Final = "0013"
"""The oldest schema that this abistore reads without an upgrade: later ones added tables, and columns with defaults."""

WHO_GAVE: Final = "0016"
"""Since when a verdict says whether another store gave it."""

READABLE: Final = "readable"
"""The table of a later schema whose one row, in ``from_schema``, says the oldest that its readers may know.

The migration that makes a store unreadable for others writes its own number there.
"""


def check_readable(database: Database, found: str) -> None:
    """Raise :class:`SchemaMismatch` where a store of another schema cannot be read, or might be misread."""
    where = f"{database.where}: the store has the {'newer' if found > HEAD else 'older'} schema {found}"
    if found > HEAD:
        rows = database.command(f"SELECT from_schema FROM {READABLE}") if READABLE in database.tables() else ()
        if not any(str(first) <= HEAD for (first,) in rows):
            message = f"{where}, this abistore knows {HEAD}"
            raise SchemaMismatch(message, "use the abistore that wrote it, or a newer one")
        return
    merged = found < WHO_GAVE and database.command("SELECT 1 FROM audit WHERE action = 'merge' LIMIT 1")
    if found < OLDEST_READ or merged:
        raise SchemaMismatch(f"{where}, this abistore needs {HEAD}", "run `abistore db upgrade`")


def fill_in(database: Database) -> None:
    """Have statements find the tables and columns that an older store has not, as an upgrade would make them."""
    found = database.parts([table.name for table in metadata.sorted_tables])
    for table in metadata.sorted_tables:
        missing = [each for each in table.columns if column_part(each.name) not in found[table.name]]
        if missing:
            added = ", ".join(f"{_default(database, each)} AS {each.name}" for each in missing)
            database.show_as(table.name, added, stored=bool(found[table.name]))


def _default(database: Database, column: Column[object]) -> str:
    """What an upgrade writes into a column of rows that are there."""
    default = column.server_default
    value = str(default.arg) if isinstance(default, DefaultClause) else "NULL"
    return f"CAST({value} AS {column.type.compile(database.connection.dialect)})"


def structure_problems(database: Database) -> Iterator[str]:
    """A sentence for all that is missing; statements would fail, or be slow, or let in what must not be there twice."""
    expected = {table.name: _expected(table) for table in (*metadata.sorted_tables, version)}
    found = database.parts([name for name in database.tables() if name in expected])
    for table, parts in expected.items():
        if table not in found:
            yield f"table {table}: it is missing"
            continue
        for what, columns in sorted(parts - found[table]):
            yield f"table {table}: its {what} ({', '.join(columns)}) is missing"


def _expected(table: Table) -> set[Part]:
    parts = {column_part(column.name) for column in table.columns}
    parts |= {index_part(index.unique, index.columns.keys()) for index in table.indexes}
    for constraint in table.constraints:
        match constraint:
            case PrimaryKeyConstraint():
                parts.add(key_part(constraint.columns.keys()))
            case UniqueConstraint():
                parts.add(index_part(True, constraint.columns.keys()))
            case ForeignKeyConstraint():
                parts.add(reference_part(str(constraint.referred_table), constraint.column_keys))
    return parts


_PARTIAL = re.compile(r"\.(\d{1,9})\.partial(?:-journal)?\Z")
"""How the beginning of a copy is called, by the process that makes it."""


def copy(database: Database, destination: Path) -> None:
    """Write a consistent copy of the database to ``destination``, complete or not at all.

    Raises :class:`StoreError` where the destination exists or cannot be written, or the store is not a file.
    """
    if database.path is None:
        raise StoreError(f"{database.where}: only SQLite files are copied here", "use pg_dump")
    if destination.exists():
        raise StoreError(f"{destination}: exists", "give another path for the backup")
    remove_abandoned(database.path)
    partial = destination.with_name(f"{destination.name}.{os.getpid()}.partial")
    try:
        # a new file, whatever link somebody put there, and for nobody who may not read the store
        partial.touch(database.path.stat().st_mode & 0o777 | 0o600, exist_ok=False)
        _copy(database.path, partial)
        partial.rename(destination)
    except sqlite3.Error as error:
        known = failure(error, str(destination))
        if known is None:
            raise
        raise known from error
    except OSError as error:
        raise StoreError(f"{destination}: cannot be written ({error.strerror})", "give another path") from error
    finally:
        partial.unlink(missing_ok=True)


def remove_abandoned(path: Path) -> None:
    """Remove the beginnings of copies beside the store at ``path`` whose process was killed."""
    try:
        left = [each for each in path.parent.iterdir() if each.name.startswith(f"{path.name}.")]
    except OSError:  # the folder may not be listed, and is not ours to tidy
        return
    for each in left:
        found = _PARTIAL.search(each.name)
        if found and not _runs(int(found[1])):
            with suppress(OSError):
                each.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return process != os.getpid()


def copy_beside(database: Database, label: str) -> Path:
    """Copy the database into its folder under the first free name that carries ``label``."""
    assert database.path is not None
    number = 1
    while True:
        suffix = f".{label}.backup" if number == 1 else f".{label}.backup{number}"
        destination = database.path.with_name(database.path.name + suffix)
        if not destination.exists():
            copy(database, destination)
            return destination
        number += 1


def _copy(path: Path, destination: Path) -> None:
    source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
    with closing(source), closing(sqlite3.connect(destination, isolation_level=None)) as target:
        source.backup(target)
        # a copy stands alone: no write-ahead log beside it
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("PRAGMA user_version = 0")


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
