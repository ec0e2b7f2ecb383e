"""Messages to the process that reads headers, and back: built only where headers are read, which takes 3 ms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from abistore.extract.header_options import NO_EDITS, HeaderEdits, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.snapshot import Evidence, HeadersRead, Location, Target, Variants


class HeaderRequest(msgspec.Struct, frozen=True):
    """Which headers to read for which binary, below which folders (``roots``), within which limits.

    ``cpp_exports`` tells that the binary exports C++ symbols, ``runtime`` that it is the C++ runtime itself.
    ``silence`` is for how many seconds nothing may happen. ``edits`` are read in place of what is on disk.
    """

    options: HeaderOptions
    target: Target
    cpp_exports: bool
    runtime: bool
    roots: tuple[str, ...] | None
    seconds: int
    memory: int
    silence: float
    edits: HeaderEdits = NO_EDITS


class HeaderReading(msgspec.Struct, frozen=True):
    """What headers declare, and how much of them could be read; ``read`` is ``None`` where nothing could."""

    entries: tuple[tuple[Name, Variants], ...]
    locations: tuple[tuple[Name, Location], ...]
    evidence: Evidence
    read: HeadersRead | None = None


def _written(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError  # what msgspec asks of a hook that does not know a type


def _read(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value


# not msgpack, which has no integers of more than 64 bits
encode = msgspec.json.Encoder(enc_hook=_written).encode
_decode_answer = msgspec.json.Decoder(HeaderReading).decode
_decode_request = msgspec.json.Decoder(HeaderRequest, dec_hook=_read).decode


def decode_answer(data: bytes) -> HeaderReading:
    """An answer."""
    answer: HeaderReading = _decode_answer(data)
    return answer


def decode_request(data: bytes) -> HeaderRequest:
    """A request."""
    request: HeaderRequest = _decode_request(data)
    return request
