"""A folder of the user's that keeps what was parsed: limited in size, and safe under several processes."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from abistore.model.blake2 import blake2b

VARIABLE: Final = "ABISTORE_HEADER_CACHE"
"""Names another folder; ``off`` keeps nothing."""

MOST_BYTES: Final = 256 << 20
"""What is kept at most. What was not used for longest goes first."""

BLOCK: Final = 4096
"""What a file takes at least."""

UNFINISHED: Final = 3600
"""Seconds after which a file that nobody finished is left by a process that was ended."""


class KeptFiles:
    """Files by a key, each with a record that tells its digest: one that was damaged is as good as none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, key: str) -> bytes | None:
        """What was recorded of a file; ``None`` where nothing is kept."""
        try:
            return self._path(key, "json").read_bytes()
        except OSError:
            return None

    def file(self, key: str, digest: str) -> Path | None:
        """The file itself; ``None`` where it is not as it was when it was kept."""
        path = self._path(key, f"{digest}.pch")
        try:
            if _digest(path) != digest:
                path.unlink()
                return None
            os.utime(path)
        except OSError:
            return None
        return path

    def count(self, key: str) -> int:
        """How often this was asked before. Raises :class:`OSError`."""
        with self._path(key, "count").open("ab") as file:
            file.write(b".")
            return file.tell() - 1

    def mark(self, key: str) -> None:
        """Remember something of a key. Raises :class:`OSError`."""
        self._path(key, "mark").touch()

    def is_marked(self, key: str) -> bool:
        """Whether something was remembered of a key."""
        return self._path(key, "mark").exists()

    def begin(self) -> Path:
        """An empty file to write into. Raises :class:`OSError`."""
        descriptor, name = tempfile.mkstemp(".new", dir=self.folder)
        os.close(descriptor)
        return Path(name)

    def keep(self, key: str, written: Path) -> tuple[str, Path]:
        """Give a finished file its name, and tell its digest. Raises :class:`OSError`."""
        digest = _digest(written)
        path = self._path(key, f"{digest}.pch")
        written.replace(path)
        self._shorten(path)
        return digest, path

    def note(self, key: str, record: bytes) -> None:
        """Record what a file is that was kept. Raises :class:`OSError`."""
        new = self.begin()
        new.write_bytes(record)
        new.replace(self._path(key, "json"))

    def _path(self, key: str, suffix: str) -> Path:
        return self.folder / f"{key}.{suffix}"

    def _shorten(self, but: Path) -> None:
        """Take away what is too much, and what nobody finished."""
        now, held = time.time(), 0
        found = [(path, state) for path in self.folder.iterdir() if (state := _state(path)) is not None]
        for path, state in sorted(found, key=lambda each: -each[1].st_mtime):
            held += max(state.st_size, BLOCK)
            abandoned = path.suffix == ".new" and now - state.st_mtime > UNFINISHED
            if path != but and (abandoned or held > MOST_BYTES):
                with suppress(OSError):  # another process did it
                    path.unlink()


def kept_files() -> KeptFiles | None:
    """The user's folder; ``None`` where it is switched off, cannot be written, or others may write to it."""
    named = os.environ.get(VARIABLE)
    if named == "off":
        return None
    try:
        folder = Path(named) if named else _usual()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):
        return None
    own = not hasattr(os, "geteuid") or (
        state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
    return KeptFiles(folder) if own and os.access(folder, os.W_OK | os.X_OK) else None


def _usual() -> Path:
    """Where the user's programs keep what can be made again. Raises :class:`RuntimeError` where there is no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "abistore" / "headers"


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None
