"""Messages between two processes arrive whole, with their open file, or not at all."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.process import (
    Answered,
    Failed,
    Progress,
    Reply,
    receive,
    receive_reply,
    receive_request,
    send,
    send_reply,
)

pytestmark = pytest.mark.fast


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    first, second = socket.socketpair()
    with first, second:
        yield first, second


@pytest.mark.parametrize("reply", [Progress("types", 0.5), Answered(b"\0" * 10, 7), Failed("LimitExceeded", "a", "b")])
def test_a_reply_arrives_as_it_was_sent(ends: tuple[socket.socket, socket.socket], reply: Reply) -> None:
    send_reply(ends[0], reply)
    assert receive_reply(ends[1]) == reply


def test_a_request_brings_its_open_file(ends: tuple[socket.socket, socket.socket], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    with (tmp_path / "file").open() as file:
        send(ends[0], b"with", file.fileno())
    send(ends[0], b"without")
    data, descriptor = receive_request(ends[1]) or (b"", None)
    assert data == b"with"
    assert descriptor is not None
    with os.fdopen(descriptor) as file:
        assert file.read() == "content"
    assert receive_request(ends[1]) == (b"without", None)


def test_the_end_of_the_other_side_is_told(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[0].sendall((100).to_bytes(8, "big") + b"the first of a hundred")
    ends[0].close()
    with pytest.raises(EOFError):
        receive(ends[1])
    assert receive_request(ends[1]) is None


def test_what_is_no_reply_is_no_answer(ends: tuple[socket.socket, socket.socket]) -> None:
    send(ends[0], b"\x80\x04K\x01.")
    with pytest.raises(EOFError):
        receive_reply(ends[1])
