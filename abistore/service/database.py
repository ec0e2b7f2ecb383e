"""Where the database is, and opening it only when it is needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abistore.store.store import Store

BUSY_SECONDS = 60.0


def locate(database: str | Path | None = None) -> str:
    """The database's path or URL: what is given, else ``ABISTORE_DB``, else a file in the user's data folder."""
    if database:
        return str(database)
    if configured := os.environ.get("ABISTORE_DB"):
        return configured
    from platformdirs import user_data_path

    return str(user_data_path("abistore", appauthor=False) / "abistore.db")


def open_store(database: str | Path | None = None, *, write: bool = False, create: bool = False) -> Store:
    """The store, as a context manager. It is created only where ``create`` says so. Raises :class:`StoreError`."""
    from abistore.store.store import Store

    return Store.open(locate(database), write=write, create=create, busy_seconds=BUSY_SECONDS)
