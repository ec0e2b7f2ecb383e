"""Files that get their name when they are complete: a killed process leaves no half file under it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

PREFIX: Final = ".abistore-"
_YOUNG: Final = 60
"""Seconds for which an empty folder may be one that is about to be locked."""


@contextmanager
def finished(target: Path) -> Iterator[BinaryIO]:
    """A file to write that becomes ``target`` where the block ends well, and is gone where it does not.

    It stands in a locked folder beside that of ``target``, so that others tell whether its writer still lives.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=target.parent.parent))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with (folder / target.name).open("wb") as partial:
            yield partial
            Path(partial.name).replace(target)
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that were killed left in ``folder``; what cannot be removed stays."""
    try:
        left = sorted(folder.glob(f"{PREFIX}*"))
    except OSError:
        return
    for each in left:
        if _is_abandoned(each):
            shutil.rmtree(each, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return any(folder.iterdir()) or time.time() - os.fstat(lock).st_mtime > _YOUNG
    except OSError:
        return False
    finally:
        os.close(lock)
