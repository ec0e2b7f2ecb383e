"""Messages between a process and the one that it works for: a length, then the bytes, and perhaps an open file.

A request is bytes that both sides understand. Answers are decoded by :mod:`msgspec` and never pickled: a file that
took over the process may have made them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

_LENGTH = 8
_PIECE = 1 << 20


class Progress(msgspec.Struct, frozen=True, tag=True):
    """What is worked on, and which part of it is done: between 0 and 1."""

    what: str
    done: float


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The answer, and how many bytes of memory the process holds now."""

    data: bytes
    resident: int = 0


class Failed(msgspec.Struct, frozen=True, tag=True):
    """Why there is no answer: ``kind`` is the name of an error's class, or another word that both sides know.

    ``names`` are what the error is about, where that is more than its message tells.
    """

    kind: str
    message: str
    hint: str
    resident: int = 0
    names: tuple[str, ...] = ()


Reply: TypeAlias = Progress | Answered | Failed
Say: TypeAlias = Callable[[Progress], None]

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Progress | Answered | Failed).decode


def send(channel: socket.socket, data: bytes, descriptor: int | None = None) -> None:
    """Send a message, with an open file where one is given."""
    length = len(data).to_bytes(_LENGTH, "big")
    if descriptor is None:
        channel.sendall(length + data)
    else:
        socket.send_fds(channel, [length], [descriptor])
        channel.sendall(data)


def receive(channel: socket.socket) -> bytes:
    """The next message. Raises :class:`EOFError` where the other side has ended."""
    return _exactly(channel, int.from_bytes(_exactly(channel, _LENGTH), "big"))


def receive_request(channel: socket.socket) -> tuple[bytes, int | None] | None:
    """The next message and its open file, if it has one; ``None`` where nobody is left to send one."""
    if not hasattr(socket, "recv_fds"):
        try:
            return receive(channel), None
        except EOFError:
            return None
    start, descriptors, _, _ = socket.recv_fds(channel, _LENGTH, 1)
    if not start:
        return None
    length = start + _exactly(channel, _LENGTH - len(start))
    return _exactly(channel, int.from_bytes(length, "big")), descriptors[0] if descriptors else None


def send_reply(channel: socket.socket, reply: Reply) -> None:
    """Send a message about the request that is worked on."""
    send(channel, _encode(reply))


def receive_reply(channel: socket.socket) -> Reply:
    """The next message about the request. Raises :class:`EOFError`, also for what is no reply."""
    try:
        reply: Reply = _decode(receive(channel))
    except msgspec.MsgspecError as error:
        raise EOFError from error
    return reply


def resident() -> int:
    """The bytes of memory that this process holds; where the system does not tell, its peak."""
    import resource  # absent on Windows

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return pages * os.sysconf("SC_PAGE_SIZE")


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = channel.recv(min(size - len(data), _PIECE))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)
