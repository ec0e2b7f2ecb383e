"""Connecting to a database, whatever it holds: an SQLite file, or PostgreSQL through a URL."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from abistore.errors import UsageError
from abistore.store.database import sqlite
from abistore.store.database.database import Database
from abistore.urls import EXAMPLE, masked


def connect(
    url_or_path: str | Path, *, write: bool, create: bool, busy_seconds: float, settle: bool = False
) -> Database:
    """Open a database, of whatever content. Raises :class:`StoreError` where that cannot be done.

    With ``settle`` somebody says that an SQLite file misses no commits.
    """
    text = os.fspath(url_or_path)
    url = _url(text) if "://" in text else None
    if url is not None and url.get_backend_name() == "postgresql":
        from abistore.store.database import postgresql  # loads a dialect that few commands need

        return postgresql.connect(url, write=write, busy_seconds=busy_seconds)
    path = Path(text if url is None else url.database or "")
    return sqlite.connect(path, write=write, create=create, busy_seconds=busy_seconds, settle=settle)


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
