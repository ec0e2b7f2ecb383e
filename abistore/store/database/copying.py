"""Copying an SQLite store while others use it."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from abistore.errors import StoreError
from abistore.store.database.database import Database
from abistore.store.database.failures import failure

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
