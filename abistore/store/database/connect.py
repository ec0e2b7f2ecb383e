"""Connecting to a database, whatever it holds: an SQLite file, or PostgreSQL through a URL."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abistore.errors import SchemaMismatch, StoreError, UsageError
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged, failure, refused
from abistore.urls import masked

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

_EXAMPLE = "e.g. postgresql://user@host/database, or a path"
_PRAGMAS = ("foreign_keys = ON", "trusted_schema = OFF", "synchronous = FULL", "cache_size = -65536")


def connect(url_or_path: str | Path, *, write: bool, create: bool, busy_seconds: float) -> Database:
    """Open a database, of whatever content. Raises :class:`StoreError` where that cannot be done."""
    text = os.fspath(url_or_path)
    if "://" not in text:
        return _connect_sqlite(Path(text), write=write, create=create, busy_seconds=busy_seconds)
    url = _url(text)
    if url.get_backend_name() == "sqlite":
        return _connect_sqlite(Path(url.database or ""), write=write, create=create, busy_seconds=busy_seconds)
    return _connect_postgresql(url, write=write, busy_seconds=busy_seconds)


def _url(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    scheme, mark, rest = text.partition("://")
    if scheme.partition("+")[0] in {"postgres", "postgresql"}:
        scheme = "postgresql+psycopg"
    try:
        url = make_url(f"{scheme}{mark}{rest}")
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise UsageError(f"not a database URL: {_in_one_word(text)}", _EXAMPLE) from error
    if "@" in f"{url.host}{url.database}":
        message = f"not a database URL: {_in_one_word(text)} has more than one @"
        raise UsageError(message, "write special characters of a password as in URLs: %40 for @, %2F for /")
    if url.get_backend_name() not in {"postgresql", "sqlite"}:
        raise UsageError(
            f"{url.get_backend_name()} databases are not supported", "use SQLite (a path) or postgresql://"
        )
    return url


def _in_one_word(text: str) -> str:
    """An address whose blanks do not end what is hidden of it."""
    return masked("%20".join(text.split()))


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
    if not exists and masked(str(path)) != str(path):
        message = f"{path}: neither a database nor a URL of one"
        raise UsageError(message, _EXAMPLE)
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
    return Database(driver, (sqlite3.Error,), lambda: _engine("sqlite://", lambda: driver), where, path, writable)


def _connect_postgresql(url: URL, *, write: bool, busy_seconds: float) -> Database:
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

    where = masked(url.render_as_string(hide_password=True))
    try:
        engine = _engine(url)
        with engine.connect() as connection:
            driver = connection.connection.driver_connection
        from psycopg import Error  # installed, as the connection shows
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        message = "the driver for PostgreSQL is not installed"
        raise StoreError(message, "pip install 'abistore[postgres]'") from error
    except (SQLAlchemyError, TypeError, ValueError) as error:  # the latter two for what the driver cannot read
        raise refused(error, where, _secrets(url)) from error
    database = Database(driver, (Error,), lambda: engine, where, None, write)
    database.run(f"SET lock_timeout = {int(busy_seconds * 1000)}")
    if not write:
        database.run("SET default_transaction_read_only = on")
    return database


def _secrets(url: URL) -> tuple[str, ...]:
    """What a driver's message may quote of the URL and nobody may read."""
    from urllib.parse import quote, quote_plus

    parameters = [(name, value) for name, values in url.normalized_query.items() for value in values]
    hidden = [value for name, value in parameters if masked(f"{name}=x") != f"{name}=x"]
    known = [*hidden, *([url.password] if url.password else [])]
    return (*known, *map(quote, known), *map(quote_plus, known))


def _engine(url: URL | str, creator: Callable[[], sqlite3.Connection] | None = None) -> Engine:
    """SQLAlchemy's engine around one connection, which it neither makes twice nor closes."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    options: dict[str, Any] = {"creator": creator} if creator else {}
    return create_engine(url, poolclass=StaticPool, isolation_level="AUTOCOMMIT", **options)
