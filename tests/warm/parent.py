"""The process that is copied: `python -m tests.warm.parent SOCKET`. It answers until whoever started it has ended."""

from __future__ import annotations

import gc
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import NoReturn, TextIO

import abistore
from abistore.cli.entry import main as command_line

UNUSED = ("abistore.mcp", "abistore.extract.headers", "abistore.migrations")
"""What few commands need, and what takes longest to import."""


def main(address: str) -> NoReturn:
    """Import what commands need, and serve their calls until standard input ends."""
    for module in pkgutil.walk_packages(abistore.__path__, "abistore."):
        if not module.name.startswith(UNUSED) and not module.name.endswith("__main__"):
            import_module(module.name)
    gc.freeze()  # copies look at none of this, and so do not write to its pages
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                os._exit(0)
            channel, _ = listener.accept()
            _reap()
            if not os.fork():
                listener.close()
                _watched(channel)
            channel.close()


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watched(channel: socket.socket) -> NoReturn:
    """Start a command, pass on the signals that its caller gets, and tell the caller how it ended."""
    length, files, _, _ = socket.recv_fds(channel, 8, 4)
    if not length:
        os._exit(1)
    told = _exactly(channel, int.from_bytes(length, "big"))
    command = os.fork()
    if not command:
        channel.close()
        _become(told, files)
    for file in files:
        os.close(file)
    ended = os.pidfd_open(command)
    while True:
        ready, _, _ = select.select([channel, ended], [], [])
        if ended in ready:
            _, status = os.waitpid(command, 0)
            with suppress(OSError):
                channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))
            os._exit(0)
        for number in channel.recv(64) or [signal.SIGKILL]:  # a caller that was killed asks for nothing more
            os.kill(command, number)


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = channel.recv(size - len(data))
        if not piece:  # the caller was killed before it said all
            os._exit(1)
        data += piece
    return data


def _become(told: bytes, files: list[int]) -> NoReturn:
    """Go on as a process that was started with these words, environment, folder and files."""
    count, *others = told.split(b"\0")
    words, environment = others[: int(count)], others[int(count) :]
    *streams, folder = files
    for number, file in enumerate(streams):
        os.dup2(file, number)
    os.fchdir(folder)
    for file in files:
        os.close(file)
    os.environb.clear()
    os.environb.update(dict(_parted(each) for each in environment))
    sys.argv[1:] = [os.fsdecode(word) for word in words]
    sys.stdin, sys.stdout, sys.stderr = _stream(0), _stream(1), _stream(2)
    time.tzset()
    command_line()


def _parted(variable: bytes) -> tuple[bytes, bytes]:
    name, _, value = variable.partition(b"=")
    return name, value


def _stream(number: int) -> TextIO:
    """A standard stream as Python makes it when it starts."""
    errors = "backslashreplace" if number == 2 else "strict"
    return open(number, "w" if number else "r", 1 if number == 2 else -1, "utf-8", errors, closefd=False)


if __name__ == "__main__":
    main(sys.argv[1])
