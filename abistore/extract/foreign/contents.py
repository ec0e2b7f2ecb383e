"""The text of a dump: plain, compressed, or the one file of a compressed archive; each within a limit."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final, Protocol

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.input_file import InputFile
from abistore.limits import allow_more

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
USTAR: Final = slice(257, 262)
BLOCK: Final = 512
PIECE: Final = 1 << 18

SPARE, RATIO = 64 << 20, 64
"""A dump may have so many bytes, and this many for each byte of the compressed file: four times what real ones have."""

SHOWN: Final = 8192
"""How much of the contents a look at the first bytes gives."""


class Inflating(Protocol):
    """What decompresses piece by piece."""

    @property
    def eof(self) -> bool:
        """Whether the end was met."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """At most so many bytes more."""


@lru_cache(4)
def beginning(head: bytes) -> bytes:
    """What a file's contents begin with, given its first bytes: those of the first dump where they are compressed."""
    inflate = _inflating(head)
    if inflate is not None:
        with suppress(zlib.error, lzma.LZMAError, EOFError):
            head = inflate().decompress(head, SHOWN)
    return head[slice(*(_member(head) or (0, 0)))] if _is_tar(head) else head


def contents(file: InputFile, most: int) -> bytes:
    """All of the dump in ``file``, at most so many bytes. Raises :class:`LimitExceeded`, :class:`ExtractError`."""
    file.check_size(most)
    inflate = _inflating(file.head)
    if inflate is None:
        data = b"".join(_pieces(file))
    else:
        data = _inflated(file, inflate(), min(most, SPARE + RATIO * file.size))
        allow_more(len(data))
    if not _is_tar(data):
        return data
    place = _member(data)
    if place is None or place[1] > len(data):
        raise ExtractError(f"{file.path}: no dump can be found in the archive", "unpack it, and give the dump in it")
    return data[slice(*place)]


def _inflating(head: bytes) -> Callable[[], Inflating] | None:
    if head.startswith(GZIP):
        return _Gunzip
    return lzma.LZMADecompressor if head.startswith(XZ) else None


class _Gunzip:
    """zlib's decompressor with the bounded output that the one of lzma has."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


def _pieces(file: InputFile) -> Iterator[bytes]:
    for offset in range(0, file.size, PIECE):
        yield file.read_at(offset, min(PIECE, file.size - offset))


def _inflated(file: InputFile, inner: Inflating, most: int) -> bytes:
    found, size = [], 0
    try:
        for piece in _pieces(file):
            while not inner.eof and (given := inner.decompress(piece, PIECE)):
                piece, size = b"", size + len(given)
                found.append(given)
                if size > most:
                    raise LimitExceeded(
                        f"{file.path}: {file.size:,} bytes unpack to more than {most:,}",
                        "unpack it yourself, and give the dump in it",
                    )
    except (zlib.error, lzma.LZMAError, EOFError) as error:
        raise ExtractError(f"{file.path}: the compressed data are damaged", "fetch it again") from error
    if not inner.eof:
        raise ExtractError(f"{file.path}: the compressed data are cut off", "fetch it again")
    return b"".join(found)


def _is_tar(data: bytes) -> bool:
    return data[USTAR] == b"ustar"


def _member(data: bytes) -> tuple[int, int] | None:
    """Where the first regular file of a tar archive begins and ends: nothing is unpacked to disk."""
    position = 0
    while len(header := data[position : position + BLOCK]) == BLOCK and any(header):
        size = _octal(header[124:136])
        if size is None:
            return None
        position += BLOCK
        if header[156:157] in (b"0", b"\0"):
            return position, position + size
        position += -(-size // BLOCK) * BLOCK
    return None


def _octal(field: bytes) -> int | None:
    text = field.strip(b" \0")
    return int(text, 8) if text and not set(text) - set(b"01234567") else None
