"""Compressed sections: SHF_COMPRESSED with zlib or zstd, and the older .zdebug_ form."""

from __future__ import annotations

import struct
import zlib
from importlib import import_module
from types import ModuleType

from abistore.errors import ExtractError, LimitExceeded

ZLIB, ZSTD = 1, 2
"""ELFCOMPRESS_ZLIB and ELFCOMPRESS_ZSTD (gABI, "Section Compression")."""

MOST_TIMES = 1032
"""How many times its size a section expands to at most: what Deflate can do (RFC 1951, a match of 258 bytes takes two
bits). Zstandard's format has no such bound, but debug information never came near it."""


def expand(data: bytes, *, bits: int, little: bool, max_bytes: int) -> bytes:
    """The contents of an SHF_COMPRESSED section, whose first bytes are an Elf_Chdr.

    Raises :class:`ExtractError` for corrupt data and :class:`LimitExceeded` above ``max_bytes``.
    """
    order = "<" if little else ">"
    layout = struct.Struct(order + ("III" if bits == 32 else "I4xQQ"))
    if len(data) < layout.size:
        raise ExtractError("a compressed section is shorter than its header")
    method, size, _alignment = layout.unpack_from(data)
    return _inflate(method, memoryview(data)[layout.size :], size, max_bytes)


def expand_old(data: bytes, max_bytes: int) -> bytes:
    """The contents of a ``.zdebug_*`` section: ``ZLIB``, the size as 8 big-endian bytes, a zlib stream."""
    if data[:4] != b"ZLIB" or len(data) < 12:
        return data
    return _inflate(ZLIB, memoryview(data)[12:], int.from_bytes(data[4:12], "big"), max_bytes)


def _inflate(method: int, stream: memoryview, size: int, max_bytes: int) -> bytes:
    if size > max_bytes:
        raise LimitExceeded(f"a compressed section declares {size:,} bytes, more than the limit of {max_bytes:,}")
    if size > MOST_TIMES * len(stream) + 64:
        raise LimitExceeded(
            f"a compressed section of {len(stream):,} bytes declares {size:,}, more than {MOST_TIMES:,} times as many"
        )
    if method == ZLIB:
        data = _zlib(stream, size)
    elif method == ZSTD:
        data = _zstd(stream, size)
    else:
        raise ExtractError(f"a section is compressed with the unknown method {method}")
    if len(data) != size:
        raise ExtractError("a compressed section does not expand to the size that it declares")
    return data


def _zlib(stream: memoryview, size: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(stream, size + 1)
    except zlib.error as error:
        raise ExtractError(f"a compressed section is corrupt: {error}") from error


def _zstd(stream: memoryview, size: int) -> bytes:
    zstd = _zstd_module()
    try:
        data: bytes = zstd.ZstdDecompressor().decompress(stream, size + 1)
    except zstd.ZstdError as error:
        raise ExtractError(f"a compressed section is corrupt: {error}") from error
    return data


def _zstd_module() -> ModuleType:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    raise ExtractError("a section is compressed with zstd", "pip install backports.zstd, or use Python 3.14 or newer")
