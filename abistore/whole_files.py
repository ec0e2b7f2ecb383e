"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file, in the place of one that is there. Raises :class:`OSError`.

    Until it is complete it stands beside that, under a name that nobody can have put a link at.
    """
    draft = path.with_name(f".abistore-{os.urandom(8).hex()}.part")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
        try:
            file.writelines(pieces)
            file.flush()
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
