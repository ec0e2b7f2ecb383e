"""Folders that go with the process that made them: what one that was killed left behind, the next one removes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_YOUNG: Final = 60
"""Seconds for which an empty folder may be one that is about to be locked."""


@contextmanager
def own_folder(within: Path, prefix: str) -> Iterator[Path]:
    """A new folder, locked, so that others tell whether its process still lives, and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(within: Path, prefix: str) -> None:
    """Remove what processes that were killed left; what cannot be removed stays."""
    try:
        left = sorted(within.glob(f"{prefix}*"))
    except OSError:
        return
    for each in left:
        if _is_abandoned(each):
            shutil.rmtree(each, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # another user's, or gone meanwhile
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return any(folder.iterdir()) or time.time() - os.fstat(lock).st_mtime > _YOUNG
    except OSError:
        return False
    finally:
        os.close(lock)
