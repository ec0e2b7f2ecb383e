"""A bundle as a file: lines of JSON, compressed, and checked from the first byte to the last."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Final

import msgspec

from abistore.errors import BundleError, LimitExceeded
from abistore.model.digest import digest, encode
from abistore.store.bundles.records import FORMAT, AnyRecord, Ending, Opening

MAGIC: Final = b"\x1f\x8b"
BEGINNING: Final = b'{"is":"bundle","format":'

MOST_TEXT: Final = 2 << 30
"""Bytes that a bundle may unpack to: eighty times what a thousand releases of 5,000 declarations take."""
LONGEST_LINE: Final = 64 << 20
_PIECE: Final = 1 << 20

_decode: Callable[[bytes], AnyRecord] = msgspec.json.Decoder(AnyRecord).decode


def write(records: Iterable[AnyRecord]) -> bytes:
    """The records as a file; the same records give the same bytes."""
    packed = io.BytesIO()
    chain, lines = b"", 0
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        for record in records:
            line = encode(record)
            file.write(line + b"\n")
            chain, lines = digest(chain + line), lines + 1
        file.write(encode(Ending(lines, chain.hex())) + b"\n")
    return packed.getvalue()


def is_bundle(head: bytes) -> bool:
    """Whether a file that begins so is a bundle, of this format or another."""
    if not head.startswith(MAGIC):
        return False
    try:
        return zlib.decompressobj(31).decompress(head, len(BEGINNING)) == BEGINNING
    except zlib.error:
        return False


def read(file: BinaryIO, where: str) -> Iterator[AnyRecord]:
    """The records of a bundle but its last. Raises :class:`BundleError` for whatever is not as it was written."""
    chain, lines, ended = b"", 0, False
    for line in _lines(file, where):
        if ended:
            raise BundleError(f"{where}: something stands behind the bundle's end")
        record = _record(line, where, lines)
        if (lines == 0) is not isinstance(record, Opening):
            raise BundleError(f"{where}: line {lines + 1} is not what a bundle has there")
        if isinstance(record, Ending):
            ended = True
            if (record.lines, record.digest) != (lines, chain.hex()):
                raise BundleError(
                    f"{where}: the bundle was changed since it was written: its digest is of something else"
                )
            continue
        chain, lines = digest(chain + line), lines + 1
        yield record
    if not ended:
        raise BundleError(f"{where}: the bundle has no end", "copy it again; the file is not complete")


def _record(line: bytes, where: str, number: int) -> AnyRecord:
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if number == 0 and line.startswith(BEGINNING):
            _refuse_newer(line, where)
        raise BundleError(f"{where}: line {number + 1} is malformed: {error}") from error
    except RecursionError as error:
        raise BundleError(f"{where}: line {number + 1} is nested too deeply") from error
    if isinstance(record, Opening) and record.format != FORMAT:
        _refuse_newer(line, where)
    return record


def _refuse_newer(line: bytes, where: str) -> None:
    number = line[len(BEGINNING) :].split(b",")[0].strip(b"}")[:20].decode("ascii", "replace")
    if number != str(FORMAT):
        raise BundleError(
            f"{where}: bundle format {number} is not known here (this abistore reads format {FORMAT})",
            "upgrade abistore, or write the bundle again with this version",
        )


def _lines(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The lines, as they are unpacked; no more than :data:`MOST_TEXT` bytes."""
    left = b""
    for piece in _unpacked(file, where):
        *whole, left = (left + piece).split(b"\n")
        if len(left) > LONGEST_LINE:
            raise LimitExceeded(f"{where}: a line is longer than {LONGEST_LINE:,} bytes")
        yield from whole
    if left:
        raise BundleError(f"{where}: the bundle ends within a line", "copy it again; the file is not complete")


def _unpacked(file: BinaryIO, where: str) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(31)
    total = 0
    try:
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or file.read(_PIECE)
            text = unpacker.decompress(piece, _PIECE)
            if not piece and not text:
                break
            total += len(text)
            if total > MOST_TEXT:
                raise LimitExceeded(f"{where}: unpacks to more than {MOST_TEXT:,} bytes")
            yield text
    except zlib.error as error:
        raise BundleError(f"{where}: cannot be unpacked ({error})", "copy it again; the file is damaged") from error
    if not unpacker.eof:
        raise BundleError(f"{where}: the bundle ends too early", "copy it again; the file is not complete")
    if unpacker.unused_data or file.read(1):
        raise BundleError(f"{where}: something stands behind the bundle's end")
