"""Input files, each opened once: head, size, digest and contents are of the same file."""

from __future__ import annotations

import os
import stat
import weakref
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from abistore.confinement import open_file, status
from abistore.errors import ExtractError, InputError, LimitExceeded, PathDenied

HEAD_BYTES = 4096
AGAIN = "read it again once its build or copy has ended"
_PIECE = 1 << 17


class InputFile:
    """A regular file behind one descriptor: whoever replaces the file at ``path`` meanwhile changes nothing here.

    A directory, a FIFO or a device is an :class:`InputError`, and never a wait.
    """

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = _open(path) if descriptor is None else descriptor
        self.close = weakref.finalize(self, os.close, self.descriptor)
        try:
            status = os.fstat(self.descriptor)
            _check_sort(path, status)
        except BaseException:
            self.close()
            raise
        self.size = status.st_size
        self.named: InputFile | None = None
        """The library that a linker script names, which is read in its place."""
        self._state = _state(status)

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def check_size(self, most: int) -> None:
        """Raises :class:`LimitExceeded` where the file has more than ``most`` bytes."""
        if self.size > most:
            raise LimitExceeded(f"{self.path}: {self.size:,} bytes, more than the limit of {most:,}")

    @cached_property
    def head(self) -> bytes:
        """The first 4,096 bytes, or all of a shorter file. Raises :class:`InputError` where there are none."""
        if not self.size:
            raise InputError(f"{self.path}: the file is empty", "name a shared library or a JSON snapshot")
        return self.read_at(0, min(HEAD_BYTES, self.size))

    def read_at(self, offset: int, size: int) -> bytes:
        """Exactly ``size`` bytes from ``offset``. Raises :class:`ExtractError` where they are not all there."""
        self.check_range(offset, size)
        pieces: list[bytes] = []
        missing = size
        while missing:
            piece = self._read(offset + size - missing, missing)
            pieces.append(piece)
            missing -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read(self, offset: int, size: int) -> bytes:
        try:
            piece = os.pread(self.descriptor, size, offset)
        except OSError as error:
            raise ExtractError(f"{self.path}: cannot be read: {error.strerror}") from error
        if not piece:
            raise ExtractError(f"{self.path}: truncated: {size:,} bytes are missing at offset {offset:,}")
        return piece

    def check_range(self, offset: int, size: int) -> None:
        """Raises :class:`ExtractError` where the file does not reach over ``size`` bytes from ``offset``."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ExtractError(
                f"{self.path}: truncated: {size:,} bytes at offset {offset:,} of {self.size:,}",
                "copy or download the file again",
            )

    def sha256(self) -> str:
        """The SHA-256 of the whole file, in hexadecimal.

        Raises :class:`ExtractError` where the file was written to since it was opened: then nobody can tell to which
        contents the digest belongs.
        """
        digest = self._sha256
        self.check_unchanged()
        return digest

    @cached_property
    def _sha256(self) -> str:
        import hashlib  # loads OpenSSL

        state = hashlib.sha256()
        for piece in self._pieces():
            state.update(piece)
        return state.hexdigest()

    def crc32(self) -> int:
        """The CRC-32 of the whole file, as ``.gnu_debuglink`` records it."""
        value = 0
        for piece in self._pieces():
            value = zlib.crc32(piece, value)
        return value

    def _pieces(self) -> Iterator[bytes]:
        for offset in range(0, self.size, _PIECE):
            yield self.read_at(offset, min(_PIECE, self.size - offset))

    def check_unchanged(self) -> None:
        """Raises :class:`ExtractError` where the file was written to since it was opened."""
        if _state(os.fstat(self.descriptor)) != self._state:
            raise ExtractError(f"{self.path}: was written to while it was read", AGAIN)

    def check_in_place(self, since: str) -> None:
        """Raise :class:`ExtractError` where another file stands at the path by now, so that ``since`` is of another."""
        self.check_unchanged()
        try:
            there: os.stat_result | None = status(self.path)
        except (OSError, ValueError, PathDenied):
            there = None
        if there is None or not os.path.samestat(there, os.fstat(self.descriptor)):
            raise ExtractError(f"{self.path}: was replaced while {since}", AGAIN)
        if self.named is not None:
            self.named.check_in_place(since)


class InputFolder(InputFile):
    """A folder that stands where a file may: what is in it is opened file by file."""

    def __init__(self, path: Path, descriptor: int | None = None) -> None:
        self.path = path
        self.descriptor = _open(path) if descriptor is None else descriptor
        self.close = weakref.finalize(self, os.close, self.descriptor)
        self.size = 0
        self._taken: dict[Path, tuple[int, ...]] = {}

    head = b""  # of no format

    def taken(self, path: Path) -> InputFile:
        """The file at ``path`` in the folder, which is to stay there until :meth:`check_unchanged`."""
        file = InputFile(path)
        self._taken[path] = _identity(os.fstat(file.descriptor))
        return file

    def check_unchanged(self) -> None:
        """Raise :class:`ExtractError` where a file that was taken is gone from its place, or was written to since."""
        for path, known in self._taken.items():
            try:
                same = _identity(status(path)) == known
            except (OSError, PathDenied):
                same = False
            if not same:
                raise ExtractError(f"{path}: was replaced or written to while {self.path} was read", AGAIN)

    def check_in_place(self, since: str) -> None:
        """Of a folder: each file that was taken."""
        self.check_unchanged()


def open_input(path: Path, descriptor: int | None = None) -> InputFile:
    """The file or folder at ``path``. Raises :class:`InputError`."""
    descriptor = _open(path) if descriptor is None else descriptor
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    return (InputFolder if is_folder else InputFile)(path, descriptor)


def _open(path: Path) -> int:
    try:
        return open_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file", "check the path") from None
    except PermissionError:
        raise InputError(f"{path}: not readable", "check the permissions of the file and its folder") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from error


def _check_sort(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a directory", "pass a file")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is not a regular file", "copy it to a regular file first")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Which file is there, and what writing to it changes."""
    return status.st_dev, status.st_ino, *_state(status)


def _state(status: os.stat_result) -> tuple[int, int]:
    """What writing to a file changes."""
    return status.st_size, status.st_mtime_ns
