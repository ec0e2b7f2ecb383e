"""A child process that serves this one over a socket, and can be killed at any moment."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

_START = "import json,sys; sys.path[:]=json.loads(sys.argv[2]); from {module} import serve; serve(int(sys.argv[1]))"
_LENGTH = 8


class Child:
    """One process, started when its channel is first asked for. It runs ``serve(descriptor)`` of a module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """The process that serves now; ``None`` where none is running."""
        return None if self._process is None else self._process.pid

    def channel(self) -> socket.socket:
        """This end of the socket; a process that has ended is replaced first."""
        if self._channel is not None and self._process is not None and self._process.poll() is None:
            return self._channel
        self.kill()
        own, other = socket.socketpair()
        with other:
            start = _START.format(module=self._module)
            self._process = subprocess.Popen(
                # -P: no json.py of the current folder, which may be anybody's checkout
                [sys.executable, "-P", "-c", start, str(other.fileno()), json.dumps(sys.path)],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # it may carry a protocol
                start_new_session=True,  # a key pressed in the terminal is for this process
            )
        self._channel = own
        return own

    def kill(self) -> None:
        """Ends the process at once; the next use starts another one."""
        process, channel, self._process, self._channel = self._process, self._channel, None, None
        if process is not None:
            process.kill()  # before closing: another thread may wait for an answer, and hears that there is none
            process.wait()
        if channel is not None:
            channel.close()

    def how_it_ended(self) -> str:
        """``killed``, the name of another signal, or ``exit code 3``; it is not running afterwards."""
        code = 0
        if self._process is not None:
            try:
                code = self._process.wait(1)
            except subprocess.TimeoutExpired:
                code = 0
        self.kill()
        if code == -signal.SIGKILL:
            return "killed"
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def send(channel: socket.socket, data: bytes) -> None:
    """Sends a message: its length, then its bytes."""
    channel.sendall(len(data).to_bytes(_LENGTH, "big") + data)


def receive(channel: socket.socket) -> bytes:
    """The next message. Raises :class:`EOFError` where the other side has ended."""
    return _exactly(channel, int.from_bytes(_exactly(channel, _LENGTH), "big"))


def send_with_file(channel: socket.socket, data: bytes, descriptor: int) -> None:
    """Sends a message with an open file."""
    socket.send_fds(channel, [len(data).to_bytes(_LENGTH, "big")], [descriptor])
    channel.sendall(data)


def receive_with_file(channel: socket.socket) -> tuple[bytes, int] | None:
    """The next message and its open file; ``None`` where nobody is left to send one."""
    length, descriptors, _, _ = socket.recv_fds(channel, _LENGTH, 1)
    if not length:
        return None
    return _exactly(channel, int.from_bytes(length, "big")), descriptors[0]


def resident() -> int:
    """The bytes of memory that this process holds; where the system does not tell, its peak."""
    import resource  # absent on Windows

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return pages * resource.getpagesize()


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = channel.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)
