"""The messages between a worker and its user.

Requests are pickled: they come from this program. Answers never are: a file that took over a worker may have made them.
"""

from __future__ import annotations

import pickle
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from abistore.child import receive, receive_with_file, send, send_with_file
from abistore.extract.reader import ExtractOptions


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """Asks for the snapshots of the file whose descriptor comes with the message.

    ``folder`` is what paths are relative to. ``options`` are without their ``progress``, which is told where
    ``tells_progress``. ``seconds`` and ``memory`` bound the reading where they are given, and
    ``roots`` the folders that other files are read from.
    """

    path: Path
    folder: Path
    options: ExtractOptions
    tells_progress: bool
    seconds: float | None
    memory: int | None
    roots: tuple[str, ...] | None


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


def send_request(channel: socket.socket, request: ReadRequest, descriptor: int) -> None:
    """Sends a request with an open file."""
    send_with_file(channel, pickle.dumps(request), descriptor)


def receive_request(channel: socket.socket) -> tuple[ReadRequest, int] | None:
    """The next request and its descriptor; ``None`` where nobody is left to ask."""
    received = receive_with_file(channel)
    return None if received is None else (pickle.loads(received[0]), received[1])


def send_answer(channel: socket.socket, answer: Answer) -> None:
    """Sends an answer."""
    send(channel, msgspec.msgpack.encode(answer))


def receive_answer(channel: socket.socket) -> Answer:
    """The next answer. Raises :class:`EOFError` where the worker ended."""
    answer: Answer = _decode_answer(receive(channel))
    return answer
