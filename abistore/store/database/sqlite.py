"""Stores in SQLite files."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import NullPool

from abistore.errors import SchemaMismatch, StoreBusy, StoreError, UsageError
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged, failure
from abistore.store.database.parts import Part, Parts, column_part, index_part, key_part, reference_part
from abistore.urls import EXAMPLE, masked

APPLICATION_ID: Final = 0x61626973
"""SQLite's ``application_id`` of a store: ``abis``."""

TURN: Final = 250
"""Milliseconds of one turn of waiting for a lock."""

_DRIVER: Final[ContextVar[sqlite3.Connection | None]] = ContextVar("driver", default=None)
"""The connection that SQLAlchemy is about to be given."""

_PRAGMAS = ("foreign_keys = ON", "trusted_schema = OFF", "synchronous = FULL", "cache_size = -65536")


_TABLES = "SELECT held.name, {} FROM sqlite_master AS held JOIN {} WHERE held.type = 'table' ORDER BY {}"
_COLUMNS = _TABLES.format("part.name, part.pk", "pragma_table_info(held.name) AS part", "held.name, part.pk")
_INDEXES = _TABLES.format(
    'part.name, part."unique", each.name',
    "pragma_index_list(held.name) AS part JOIN pragma_index_info(part.name) AS each",
    "part.name, each.seqno",
).replace("ORDER", "AND part.origin <> 'pk' ORDER")
_REFERENCES = _TABLES.format(
    'part.id, part."table", part."from"', "pragma_foreign_key_list(held.name) AS part", "held.name, part.id, part.seq"
)


class SQLite(Database):
    """A connection to an SQLite file."""

    path: Path

    def __init__(self, driver: sqlite3.Connection, path: Path, *, writable: bool) -> None:
        super().__init__(_connection(driver), os.fspath(path), writable=writable)
        self.path = path
        self._driver = driver

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended; the driver knows."""
        return self._driver.in_transaction

    @property
    def aborted(self) -> bool:
        """Never: a statement that failed leaves the others of its transaction alone."""
        return False

    def _begin_writing(self) -> None:
        """Wait for SQLite's write lock as long as the busy timeout says, and heed an interrupt after each turn.

        Python does not see a signal while SQLite sleeps.
        """
        ((patience,),) = self.command("PRAGMA busy_timeout")
        self.command(f"PRAGMA busy_timeout = {min(patience, TURN)}")
        try:
            for _ in range(patience // TURN):
                with suppress(StoreBusy):
                    self.command("BEGIN IMMEDIATE")
                    return
            self.command("BEGIN IMMEDIATE")
        finally:
            self.command(f"PRAGMA busy_timeout = {patience}")

    def hold_tables(self, names: Sequence[str]) -> None:
        """Nobody else writes within a transaction that writes."""

    def keep_tables_free(self) -> None:
        """Nobody else writes within a transaction that writes."""

    def _begin_reading(self) -> None:
        self.command("BEGIN")

    def tables(self) -> frozenset[str]:
        """The names of all tables."""
        rows = self.command("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(name for (name,) in rows)

    def parts(self, tables: Sequence[str]) -> Parts:
        """What each of these tables consists of: one question for all tables each, where SQLAlchemy has six a table."""
        found: dict[str, set[Part]] = {table: set() for table in tables}
        keys, indexes, references = (defaultdict[tuple[Any, ...], list[str]](list) for _ in range(3))
        for table, name, in_key in self._described(_COLUMNS, found):
            found[table].add(column_part(name))
            if in_key:
                keys[table,].append(name)
        for *index, name in self._described(_INDEXES, found):
            indexes[tuple(index)].append(name or "")  # an expression has no name
        for *reference, name in self._described(_REFERENCES, found):
            references[tuple(reference)].append(name)
        for (table,), columns in keys.items():
            found[table].add(key_part(columns))
        for (table, _, unique), columns in indexes.items():
            found[table].add(index_part(unique, columns))
        for (table, _, other), columns in references.items():
            found[table].add(reference_part(other, columns))
        return found

    def _described(self, question: str, tables: Collection[str]) -> Iterator[Row]:
        return (row for row in self.command(question) if row[0] in tables)

    def is_foreign(self) -> bool:
        """Whether the database says that it is another program's."""
        return self.command("PRAGMA application_id")[0][0] not in {0, APPLICATION_ID}

    def prepare(self) -> None:
        """Switch the journal; the driver does not wait for other processes that do the same at this moment."""
        deadline = time.monotonic() + 30
        while True:
            try:
                self.command("PRAGMA journal_mode = WAL")
                return
            except StoreBusy:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def hold_schema(self) -> None:
        """Do nothing: a transaction that writes is the only one."""

    def mark(self) -> None:
        """Say in the file's head that it is a store."""
        self.command(f"PRAGMA application_id = {APPLICATION_ID}")

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """Nothing is deleted with a table that is rebuilt. References are checked before the transaction ends."""
        # the pragma has no effect in a transaction
        self.command("PRAGMA foreign_keys = OFF")
        try:
            with self.transaction():
                yield
                if self.command("PRAGMA foreign_key_check"):
                    raise SchemaMismatch(
                        f"{self.where}: the upgrade would leave rows that refer to nothing",
                        "the store is as before; restore a backup",
                    )
        finally:
            self.command("PRAGMA foreign_keys = ON")

    def size(self) -> int:
        """In bytes, the log included."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def vacuum(self) -> None:
        """Give free space back to the disk."""
        self.command("VACUUM")
        self.command("PRAGMA wal_checkpoint(TRUNCATE)")

    def problems(self) -> Iterator[str]:
        """What the database says about itself, and whether its indexes say what its tables do."""
        for (message,) in self.command("PRAGMA integrity_check"):
            if message != "ok":  # one row may have a line for each of a hundred cells
                first, *more = [line for line in message.splitlines() if not line.startswith("***")]
                yield f"database: {first}{f' (and {len(more)} more)' if more else ''}"
        for table, row, parent, _ in self.command("PRAGMA foreign_key_check"):
            yield f"database: row {row} of {table} refers to nothing in {parent}"


def connect(path: Path, *, write: bool, create: bool, busy_seconds: float) -> SQLite:
    """Open a file, whatever it holds. Raises :class:`StoreError` where that cannot be done."""
    if not path.name or path.name == ":memory:":
        raise UsageError("a store needs a file", "give a path")
    exists = _exists(path)
    if not exists and masked(str(path)) != str(path):
        raise UsageError(f"{path}: neither a database nor a URL of one", EXAMPLE)
    if not exists and not create:
        raise StoreError(
            f"{path}: no such database", "create it with `abistore db init`, or by a first `abistore ingest`"
        )
    made = None if exists else _make_folder(path.parent)
    empty = not exists or path.stat().st_size == 0
    if write or (empty and create) or _writable(path):
        database = _open(path, "rwc" if create else "rw", busy_seconds, writable=write or (empty and create))
        database.new_folder = made
        return database
    return _open_unwritable(path, busy_seconds)


def _exists(path: Path) -> bool:
    try:
        with suppress(FileNotFoundError):
            path.stat()
    except OSError as error:
        message = f"{path}: the database cannot be reached ({error.strerror})"
        raise StoreError(message, "check the path and the permissions of its folders") from error
    if path.is_dir():
        raise StoreError(f"{path}: is a folder", "give the path of a database file")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: is not a file", "give the path of a database file")
    return path.exists()


def _open_unwritable(path: Path, busy_seconds: float) -> SQLite:
    try:
        return _open(path, "ro", busy_seconds, writable=False)
    except SchemaMismatch:
        raise
    except StoreError:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        # a write-ahead-log database in a read-only folder has no place for its index; without a log it needs none
        return _open(path, "ro&immutable=1", busy_seconds, writable=False)


def _make_folder(folder: Path) -> Path | None:
    """Make a folder with those around it; the outermost of those that were not there."""
    try:
        made = next((each for each in (*reversed(folder.parents), folder) if not each.exists()), None)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{folder}: the database's folder cannot be created ({error.strerror})"
        raise StoreError(message, "give another path with --db") from error
    return made


def _writable(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def _open(path: Path, mode: str, busy_seconds: float, *, writable: bool) -> SQLite:
    where = os.fspath(path)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        driver = sqlite3.connect(uri, timeout=busy_seconds, isolation_level=None, uri=True)
        try:
            for pragma in _PRAGMAS:
                driver.execute(f"PRAGMA {pragma}")
            driver.execute(f"PRAGMA query_only = {'OFF' if writable else 'ON'}")
            driver.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            driver.close()
            raise
    except sqlite3.Error as error:
        known = failure(error, where)
        if known is None:
            raise
        raise known from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message, and the driver decodes that
        raise damaged(where, "its schema is not UTF-8") from error
    return SQLite(driver, path, writable=writable)


def _connection(driver: sqlite3.Connection) -> Connection:
    """SQLAlchemy's connection around the driver's."""
    token = _DRIVER.set(driver)
    try:
        return _engine().connect()
    finally:
        _DRIVER.reset(token)


@cache
def _engine() -> Engine:
    """One for all files: it keeps the statements that it has compiled, which takes longer than to run them."""
    return create_engine("sqlite://", creator=_opened, poolclass=NullPool, isolation_level="AUTOCOMMIT")


def _opened() -> sqlite3.Connection:
    driver = _DRIVER.get()
    if driver is None:  # what lost its connection gets no other one
        raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
    return driver
