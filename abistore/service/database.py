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


def line_target(store: Store, target: str | None) -> str | None:
    """The full name of the platform meant by ``target``, which may be just a machine (``x86_64``)."""
    known = sorted({key.target for key in store.lines()}) if target else []
    machine = [name for name in known if target == name.split("-")[1]]
    return machine[0] if len(machine) == 1 else target
