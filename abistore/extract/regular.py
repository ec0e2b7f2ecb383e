"""Opening regular files, and nothing else: a directory, a FIFO or a device is an error and never a wait."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from abistore.errors import ExtractError, InputError, LimitExceeded


def open_regular(path: Path, max_bytes: int) -> tuple[int, int]:
    """A read-only descriptor of ``path`` and the file's size in bytes.

    Raises :class:`InputError` where ``path`` is missing, unreadable or no regular file, and
    :class:`LimitExceeded` where it is larger than ``max_bytes``.
    """
    descriptor = _open(path)
    try:
        size = _checked_size(path, os.fstat(descriptor), max_bytes)
    except InputError:
        os.close(descriptor)
        raise
    return descriptor, size


def _open(path: Path) -> int:
    try:
        # O_NONBLOCK: opening a FIFO returns at once instead of waiting for a writer.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except PermissionError:
        raise InputError(f"{path}: not readable", "check the permissions of the file and its folder") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {_reason(error)}") from error


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _checked_size(path: Path, status: os.stat_result, max_bytes: int) -> int:
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a directory", "pass a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is not a regular file", "copy it to a regular file first")
    if status.st_size > max_bytes:
        raise LimitExceeded(f"{path}: {status.st_size:,} bytes, more than the limit of {max_bytes:,}")
    return status.st_size


def read_range(descriptor: int, offset: int, size: int, path: Path) -> bytes:
    """Exactly ``size`` bytes from ``offset``. Raises :class:`ExtractError` where the file is shorter."""
    pieces: list[bytes] = []
    missing = size
    while missing:
        try:
            piece = os.pread(descriptor, missing, offset + size - missing)
        except OSError as error:
            raise ExtractError(f"{path}: cannot be read: {error.strerror}") from error
        if not piece:
            raise ExtractError(
                f"{path}: truncated: {missing:,} bytes are missing at offset {offset + size - missing:,}"
            )
        pieces.append(piece)
        missing -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_head(path: Path, size: int) -> bytes:
    """The first ``size`` bytes of ``path``, or all of a shorter file. Raises :class:`InputError`."""
    descriptor, total = open_regular(path, max_bytes=1 << 62)
    try:
        return read_range(descriptor, 0, min(size, total), path)
    finally:
        os.close(descriptor)
