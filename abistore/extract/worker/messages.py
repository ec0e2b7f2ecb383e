"""The messages between a worker and its user."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TypeAlias

import msgspec

from abistore.child import receive, receive_with_file, send, send_with_file
from abistore.extract.reader import ExtractOptions


class ReadRequest(msgspec.Struct, frozen=True):
    """Asks for the snapshots of the file whose descriptor comes with the message. Paths are bytes: any name is one."""

    path: bytes
    folder: bytes
    debug_dirs: tuple[bytes, ...]
    library: str | None
    version: str | None
    debuginfod: bool
    layout: bool
    max_bytes: int
    progress: bool
    seconds: float | None
    memory: int | None

    def options(self) -> ExtractOptions:
        """The options of the extraction, but for its progress."""
        return ExtractOptions(
            library=self.library,
            version=self.version,
            debug_dirs=tuple(Path(os.fsdecode(each)) for each in self.debug_dirs),
            debuginfod=self.debuginfod,
            layout=self.layout,
            max_bytes=self.max_bytes,
        )


class ReadProgress(msgspec.Struct, frozen=True, tag=True):
    """What is read, and which part of it is done."""

    what: str
    done: float


class ReadResult(msgspec.Struct, frozen=True, tag=True):
    """The snapshots, as JSON; and how much memory the worker has now, in bytes."""

    snapshots: tuple[bytes, ...]
    resident: int


class ReadFailure(msgspec.Struct, frozen=True, tag=True):
    """An error of :mod:`abistore.errors`, by the name of its class."""

    kind: str
    message: str
    hint: str
    resident: int


Answer: TypeAlias = ReadProgress | ReadResult | ReadFailure

_decode_answer = msgspec.msgpack.Decoder(ReadProgress | ReadResult | ReadFailure).decode
_decode_request = msgspec.msgpack.Decoder(ReadRequest).decode


def send_request(channel: socket.socket, request: ReadRequest, descriptor: int) -> None:
    """Sends a request with an open file."""
    send_with_file(channel, msgspec.msgpack.encode(request), descriptor)


def receive_request(channel: socket.socket) -> tuple[ReadRequest, int] | None:
    """The next request and its descriptor; ``None`` where nobody is left to ask."""
    received = receive_with_file(channel)
    return None if received is None else (_decode_request(received[0]), received[1])


def send_answer(channel: socket.socket, answer: Answer) -> None:
    """Sends an answer."""
    send(channel, msgspec.msgpack.encode(answer))


def receive_answer(channel: socket.socket) -> Answer:
    """The next answer. Raises :class:`EOFError` where the worker ended."""
    answer: Answer = _decode_answer(receive(channel))
    return answer
