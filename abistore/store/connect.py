"""Connecting to a database, whatever it holds: an SQLite file, or PostgreSQL through a URL."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy import URL, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from abistore.errors import SchemaMismatch, StoreError, UsageError
from abistore.store.database import Database
from abistore.store.failures import damaged, failure

_PRAGMAS = ("foreign_keys = ON", "trusted_schema = OFF", "synchronous = FULL", "cache_size = -65536")


def connect(url_or_path: str | Path, *, write: bool, create: bool, busy_seconds: float) -> Database:
    """Open a database, of whatever content. Raises :class:`StoreError` where that cannot be done."""
    url = _url(url_or_path)
    if url.get_backend_name() == "sqlite":
        return _connect_sqlite(Path(url.database or ""), write=write, create=create, busy_seconds=busy_seconds)
    return _connect_postgresql(url, write=write, busy_seconds=busy_seconds)


def _url(url_or_path: str | Path) -> URL:
    text = os.fspath(url_or_path)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise UsageError(f"not a database URL: {text}", "e.g. postgresql://user@host/database, or a path") from error
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        raise UsageError(
            f"{url.get_backend_name()} databases are not supported", "use SQLite (a path) or postgresql://"
        )
    return url


def _connect_sqlite(path: Path, *, write: bool, create: bool, busy_seconds: float) -> Database:
    if not path.name or path.name == ":memory:":
        raise UsageError("a store needs a file", "give a path")
    try:
        with suppress(FileNotFoundError):
            path.stat()
    except OSError as error:
        message = f"{path}: the database cannot be reached ({error.strerror})"
        raise StoreError(message, "check the path and the permissions of its folders") from error
    if path.is_dir():
        raise StoreError(f"{path}: is a folder", "give the path of a database file")
    exists = path.exists()
    if exists and not path.is_file():
        raise StoreError(f"{path}: is not a file", "give the path of a database file")
    if not exists and not create:
        raise StoreError(
            f"{path}: no such database", "create it with `abistore db init`, or by a first `abistore ingest`"
        )
    if not exists:
        _make_folder(path.parent)
    empty = not exists or path.stat().st_size == 0
    if write or (empty and create) or _writable(path):
        return _open_sqlite(path, "rwc" if create else "rw", busy_seconds, writable=write or (empty and create))
    return _open_unwritable(path, busy_seconds)


def _open_unwritable(path: Path, busy_seconds: float) -> Database:
    try:
        return _open_sqlite(path, "ro", busy_seconds, writable=False)
    except SchemaMismatch:
        raise
    except StoreError:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        # a write-ahead-log database in a read-only folder has no place for its index; without a log it needs none
        return _open_sqlite(path, "ro&immutable=1", busy_seconds, writable=False)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{folder}: the database's folder cannot be created ({error.strerror})"
        raise StoreError(message, "give another path with --db") from error


def _writable(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def _open_sqlite(path: Path, mode: str, busy_seconds: float, *, writable: bool) -> Database:
    def opened() -> sqlite3.Connection:
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, timeout=busy_seconds, isolation_level=None, uri=True)
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            connection.execute(f"PRAGMA query_only = {'OFF' if writable else 'ON'}")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=opened, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    where = os.fspath(path)
    try:
        return Database(engine, engine.connect(), where, path, writable)
    except DBAPIError as error:
        known = failure(error, where)
        if known is None:
            raise
        raise known from error
    except UnicodeDecodeError as error:  # SQLite quotes a damaged schema in its message, and the driver decodes that
        raise damaged(where, "its schema is not UTF-8") from error


def _connect_postgresql(url: URL, *, write: bool, busy_seconds: float) -> Database:
    where = url.render_as_string(hide_password=True)
    try:
        engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        database = Database(engine, engine.connect(), where, None, write)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        message = "the driver for PostgreSQL is not installed"
        raise StoreError(message, "pip install 'abistore[postgres]'") from error
    except DBAPIError as error:
        known = failure(error, where)
        if known is None:
            raise
        raise known from error
    database.run(f"SET lock_timeout = {int(busy_seconds * 1000)}")
    if not write:
        database.run("SET default_transaction_read_only = on")
    return database
