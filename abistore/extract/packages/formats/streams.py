"""Streams of packages: parts of a file, and what they unpack to, counted against bounds."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import BinaryIO, cast

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.members import Readable, exactly

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
LZMA = b"\x5d\0\0"
"""How the older ``.lzma`` streams begin that rpm packages have: the usual properties, and the size's low bytes."""


class FilePart(io.RawIOBase):
    """Some bytes of a file, as a stream of their own."""

    def __init__(self, file: InputFile, offset: int, size: int) -> None:
        file.check_range(offset, size)
        self._file, self._offset, self._size, self._at = file, offset, size, 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def tell(self) -> int:
        """The place."""
        return self._at

    def readinto(self, buffer: object, /) -> int:
        """Fill ``buffer`` as far as there are bytes."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        piece = self._file.read_at(self._offset + self._at, max(0, min(len(view), self._size - self._at)))
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def part(file: InputFile, offset: int, size: int) -> BinaryIO:
    """``size`` bytes of ``file`` from ``offset``, buffered. Raises :class:`ExtractError`."""
    return cast(BinaryIO, io.BufferedReader(FilePart(file, offset, size), 1 << 16))


class Counted:
    """A stream whose bytes count."""

    def __init__(self, stream: Readable, bounds: UnpackBounds) -> None:
        self._stream, self._bounds = stream, bounds

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes, and at most a megabyte at once."""
        piece = self._stream.read(1 << 20 if size < 0 else min(size, 1 << 20))
        self._bounds.take(len(piece))
        return piece

    def drain(self) -> None:
        """Read to the end, where compressed streams have their checksum."""
        while self.read(1 << 20):
            pass


class MemberContent(io.RawIOBase):
    """The next ``size`` bytes of a stream; what is not read of them is skipped when the next member is asked for."""

    def __init__(self, stream: Readable, size: int, package: str) -> None:
        self._stream, self._left, self.package = stream, size, package

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: object, /) -> int:
        """Fill ``buffer`` as far as there are bytes."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        piece = exactly(self._stream, min(len(view), self._left, 1 << 20), self.package)
        view[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)

    def skip(self, padding: int = 0) -> None:
        """Read over what is left, and over ``padding`` bytes after it."""
        left, self._left = self._left + padding, 0
        while left:
            left -= len(exactly(self._stream, min(left, 1 << 20), self.package))


def unpacked(stream: BinaryIO, bounds: UnpackBounds) -> Counted:
    """What a stream unpacks to, by the bytes that it begins with; one that is not compressed is itself."""
    head = stream.read(8)
    stream.seek(-len(head), 1)
    return Counted(_opened(stream, head), bounds)


def _opened(stream: BinaryIO, head: bytes) -> Readable:
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=stream)
    if head.startswith(BZIP2):
        return bz2.BZ2File(stream)
    if head.startswith((XZ, LZMA)):
        return lzma.LZMAFile(stream)
    if head.startswith(ZSTD):
        return cast(Readable, zstd_module().ZstdFile(stream))
    return stream


def zstd_module() -> ModuleType:
    """The module that unpacks zstd. Raises :class:`ExtractError` where there is none."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ExtractError("the package is compressed with zstd", "pip install backports.zstd, or use Python 3.14 or newer")


@contextmanager
def damage_told(package: str) -> Iterator[None]:
    """Raises :class:`ExtractError` for whatever a library that unpacks says of a damaged package."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error) as error:
        raise _damaged(package, error) from None
    except (OSError, ValueError, NotImplementedError, RuntimeError, OverflowError, IndexError, KeyError) as error:
        if isinstance(error, RecursionError) or getattr(error, "errno", None) == errno.ENOMEM:
            raise
        raise _damaged(package, error) from None
    except Exception as error:  # the errors of zstd have a class of their own, in a module that may not be there
        if type(error).__name__ != "ZstdError":
            raise
        raise _damaged(package, error) from None


def _damaged(package: str, error: Exception) -> ExtractError:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    return ExtractError(f"{package}: cannot be unpacked: {said}", "copy, download or build the package again")
