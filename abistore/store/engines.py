"""Stores in SQLite files, and connecting to any database by its path or URL."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from abistore.errors import SchemaMismatch, StoreBusy, StoreError, UsageError
from abistore.store.database import Database, Row, damaged, failure
from abistore.store.tables import Part, Parts, column_part, index_part, key_part, reference_part
from abistore.urls import EXAMPLE, masked

APPLICATION_ID: Final = 0x61626973
"""SQLite's ``application_id`` of a store: ``abis``."""

TURN: Final = 250
"""Milliseconds of one turn of waiting for a lock."""

LOGGED: Final = 1
"""``user_version`` while commits may stand in the write-ahead log alone; 0 where the file is whole by itself."""

SETTLING: Final = 2_000
"""Milliseconds to wait for others before a file is left that says so: they leave it, too."""

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
            self._wait_for_lock(patience)
            while self._says_whole():
                self._say_logged()
                self._wait_for_lock(patience)
        finally:
            self.command(f"PRAGMA busy_timeout = {patience}")

    def _wait_for_lock(self, patience: int) -> None:
        for _ in range(patience // TURN):
            with suppress(StoreBusy):
                self.command("BEGIN IMMEDIATE")
                return
        self.command("BEGIN IMMEDIATE")

    def _says_whole(self) -> bool:
        """Whether the file would not tell that it lacks what is committed now, if it were copied without its log."""
        ((journal,),) = self.command("PRAGMA journal_mode")
        return str(journal) == "wal" and not self._says_logged()

    def _says_logged(self) -> bool:
        ((said,),) = self.command("PRAGMA user_version")
        return int(said) == LOGGED

    def _say_logged(self) -> None:
        """Say in the file itself, before anything else is committed, that commits may stand in the log alone."""
        self.command(f"PRAGMA user_version = {LOGGED}")
        self.command("COMMIT")
        self.command("PRAGMA wal_checkpoint(PASSIVE)")

    def settle(self) -> None:
        """Say that the file is whole by itself, behind all commits of the log, and bring as much of that as is free.

        Whoever brings the rest, such as SQLite when the last one leaves, brings the commits before this word.
        Raises :class:`StoreBusy` while another one writes, who says it then.
        """
        ((patience,),) = self.command("PRAGMA busy_timeout")
        self.command(f"PRAGMA busy_timeout = {min(patience, SETTLING)}")
        self.command("PRAGMA query_only = OFF")
        try:
            if self._says_logged():
                self.command("PRAGMA user_version = 0")
            self.command("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            self.command(f"PRAGMA query_only = {'OFF' if self.writable else 'ON'}")
            self.command(f"PRAGMA busy_timeout = {patience}")

    def close(self) -> None:
        """Release the connection. The last one leaves a file that is whole by itself."""
        if not (self.connection.closed or self.connection.invalidated or self.in_transaction):
            with suppress(StoreError):  # the log stays beside the file, which says that it is needed
                if _says_logged(self.path) or self._says_logged():
                    self.settle()
        super().close()

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

    def show_as(self, table: str, more: str, *, stored: bool) -> None:
        """A view of this connection hides the table."""
        rows = f"*, {more} FROM main.{table}" if stored else f"{more} WHERE 1 = 0"
        self.command("PRAGMA query_only = OFF")
        try:
            self.command(f"CREATE TEMP VIEW {table} AS SELECT {rows}")
        finally:
            self.command(f"PRAGMA query_only = {'OFF' if self.writable else 'ON'}")

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
        if self._says_logged():
            self.command("PRAGMA user_version = 0")  # an empty log has no commits
        self.command("PRAGMA wal_checkpoint(TRUNCATE)")

    def problems(self) -> Iterator[str]:
        """What the database says about itself, and whether its indexes say what its tables do."""
        for (message,) in self.command("PRAGMA integrity_check"):
            if message != "ok":  # one row may have a line for each of a hundred cells
                first, *more = [line for line in message.splitlines() if not line.startswith("***")]
                yield f"database: {first}{f' (and {len(more)} more)' if more else ''}"
        for table, row, parent, _ in self.command("PRAGMA foreign_key_check"):
            yield f"database: row {row} of {table} refers to nothing in {parent}"


def connect_sqlite(path: Path, *, write: bool, create: bool, busy_seconds: float, settle: bool = False) -> SQLite:
    """Open a file, whatever it holds. Raises :class:`StoreError` where that cannot be done.

    With ``settle`` somebody says that no commits are missing in a file whose log is not there.
    """
    if not path.name or path.name == ":memory:":
        raise UsageError("a store needs a file", "give a path")
    exists = _exists(path)
    if not exists and masked(str(path)) != str(path):
        raise UsageError(f"{path}: neither a database nor a database URL", EXAMPLE)
    if not exists and not create:
        raise StoreError(
            f"{path}: no such database", "create it with `abistore db init`, or by a first `abistore ingest`"
        )
    if exists and not settle:
        _check_log(path)
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


def _says_logged(path: Path) -> bool:
    """Whether the file itself, without its log, says that commits may stand in the log alone.

    SQLite reads it: to close a file that it has open would take the locks of this process from it.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as driver:
            return bool(driver.execute("PRAGMA user_version").fetchone() == (LOGGED,))
    except sqlite3.Error:  # opening the database says what is wrong
        return False


def _check_log(path: Path) -> None:
    """Raise :class:`StoreError` for a file that says so where there is no log: its last commits may be missing."""
    log = path.with_name(f"{path.name}-wal")
    # asked twice: whoever leaves the store last writes the file, and takes the log away then
    if all(_says_logged(path) and not _has_bytes(log) for _ in range(2)):
        raise StoreError(
            f"{path}: the last commits may be missing: they were in {log.name}, which does not exist",
            "copy both files, or better use `abistore db backup`; to continue without the missing commits: "
            "`abistore db upgrade`",
        )


def _has_bytes(log: Path) -> bool:
    try:
        return log.stat().st_size > 0
    except FileNotFoundError:
        return False


def _open_unwritable(path: Path, busy_seconds: float) -> SQLite:
    try:
        return _open(path, "ro", busy_seconds, writable=False)
    except SchemaMismatch:
        raise
    except StoreError:
        if _has_bytes(path.with_name(path.name + "-wal")):
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


def connect(
    url_or_path: str | Path, *, write: bool, create: bool, busy_seconds: float, settle: bool = False
) -> Database:
    """Open a database, of whatever content. Raises :class:`StoreError` where that cannot be done.

    With ``settle`` somebody says that an SQLite file misses no commits.
    """
    text = os.fspath(url_or_path)
    url = _url(text) if "://" in text else None
    if url is not None and url.get_backend_name() == "postgresql":
        from abistore.store import postgresql  # loads a dialect that few commands need

        return postgresql.connect_postgresql(url, write=write, busy_seconds=busy_seconds)
    path = Path(text if url is None else url.database or "")
    return connect_sqlite(path, write=write, create=create, busy_seconds=busy_seconds, settle=settle)


def _url(text: str) -> URL:
    scheme, mark, rest = text.partition("://")
    if scheme.partition("+")[0] in {"postgres", "postgresql"}:
        scheme = "postgresql+psycopg"
    try:
        url = make_url(f"{scheme}{mark}{rest}")
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise UsageError(f"not a database URL: {_in_one_word(text)}", EXAMPLE) from error
    if "@" in f"{url.host}{url.database}":
        message = f"not a database URL: {_in_one_word(text)} has more than one @"
        raise UsageError(message, "write special characters of a password as in URLs: %40 for @, %2F for /")
    if url.get_backend_name() not in {"postgresql", "sqlite"}:
        raise UsageError(
            f"{url.get_backend_name()} databases are not supported", "use SQLite (a path) or postgresql://"
        )
    return url


def _in_one_word(text: str) -> str:
    """``text`` masked as one address: blanks in it would end what is hidden."""
    return masked("%20".join(text.split()))
