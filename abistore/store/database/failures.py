"""What a database driver's error means to a user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from abistore.errors import DamagedStore, SchemaMismatch, StoreBusy, StoreError
from abistore.urls import masked

_READ_ONLY = "make the file and its folder writable, or give another database with --db"
_FULL = "free some space; the store is as it was before"

_OURS = frozenset({"syntax error", "incomplete input", "unrecognized token", "42601", "42P02"})
"""Errors that only a wrong statement of ours gives. Any other statement that fails tells that the schema is damaged."""

_UNFIT = frozenset({"55000", "0A000"})
"""What PostgreSQL says where a view stands in place of a table, and cannot be written."""


def failure(error: Exception, where: str, secrets: Iterable[str] = ()) -> StoreError | None:
    """The store error for ``error`` of the database called ``where``; ``None`` where it can only be a bug of ours.

    ``error`` is the driver's, or SQLAlchemy's around it; what it quotes of ``secrets`` is hidden.
    """
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        return _sqlite(cause, where)
    from psycopg import DataError, OperationalError  # it is not SQLite's, so that this driver is in use

    text = masked(" ".join(str(cause).split()), secrets)
    known = _postgresql(getattr(cause, "sqlstate", None), text, where)
    if known is None and isinstance(cause, DataError):
        return StoreError(f"{where}: PostgreSQL cannot hold this snapshot ({text})", "store it in an SQLite file")
    if known is None and isinstance(cause, OperationalError):
        return _operational(getattr(cause, "sqlstate", None), text, where)
    return known


def _operational(state: str | None, text: str, where: str) -> StoreError:
    """Why a server could not do what was asked; without a ``state``, none answered."""
    if state is None or state.startswith(("08", "28", "3D", "57P")):
        return _unconnected(text, where)
    if state.startswith("54"):
        return StoreError(f"{where}: more than PostgreSQL can hold in one place ({text})", "store it in an SQLite file")
    return StoreError(f"{where}: the server refuses ({text})", "see the server's log, and run this again")


def refused(error: Exception, where: str, secrets: Iterable[str]) -> StoreError:
    """The store error for what went wrong while a connection was made."""
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    known = failure(error, where, secrets) if hasattr(error, "orig") else None
    return known or _unconnected(masked(text, secrets), where)


def _unconnected(text: str, where: str) -> StoreError:
    return StoreError(f"{where}: no connection ({text})", "check the URL, and that the server runs")


def damaged(where: str, detail: str) -> DamagedStore:
    """The error for a database whose content cannot be read."""
    return DamagedStore(f"{where}: the database is damaged ({detail})")


def _sqlite(cause: sqlite3.Error, where: str) -> StoreError | None:
    if "decode to UTF-8" in str(cause):  # the driver's own error, without a code
        return damaged(where, "a text in it is not UTF-8")
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{where}: another process keeps the database locked", "wait for it, and run this again")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreError(f"{where}: the database is read-only", _READ_ONLY)
        case sqlite3.SQLITE_FULL:
            return StoreError(f"{where}: no space left for the database", _FULL)
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"{where}: the database cannot be read or written ({cause})", "check the disk; " + _FULL)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return StoreError(f"{where}: the database cannot be opened ({cause})", "check the path and its permissions")
        case sqlite3.SQLITE_NOTADB:
            return SchemaMismatch(
                f"{where}: not a database", "give the path of a store, or of a file yet to be created"
            )
        case sqlite3.SQLITE_CORRUPT:
            return damaged(where, str(cause))
        case sqlite3.SQLITE_CONSTRAINT | sqlite3.SQLITE_MISMATCH:
            return damaged(where, str(cause))
        case sqlite3.SQLITE_ERROR if not any(ours in str(cause) for ours in _OURS):
            return damaged(where, f"its schema: {cause}")
        case sqlite3.SQLITE_TOOBIG:
            return StoreError(f"{where}: a value is larger than the database can hold ({cause})")
    return None


def _postgresql(state: str | None, text: str, where: str) -> StoreError | None:
    match state:
        case "55P03" | "40P01" | "57014":
            return StoreBusy(f"{where}: another session keeps the database locked", "wait for it, and run this again")
        case "25006" | "42501":
            return StoreError(f"{where}: the database may not be written ({text})", "ask for the right to write to it")
        case "53100":
            return StoreError(f"{where}: no space left for the database", _FULL)
        case "XX001" | "XX002":
            return StoreError(f"{where}: the database is damaged ({text})", "restore a backup")
    if state is None or state in _OURS:
        return None
    if state.startswith("42") or state in _UNFIT:
        return damaged(where, f"its schema: {text}")
    return damaged(where, text) if state.startswith("23") else None
