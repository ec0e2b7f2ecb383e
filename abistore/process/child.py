"""A process that works for this one: started or copied, asked, and killed."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, Protocol

from abistore.process.protocol import Answered, Failed, Progress, Say, receive_reply, send

_START = "import json,sys; sys.path[:]=json.loads(sys.argv[2]); from {module} import serve; serve(int(sys.argv[1]))"

_LOOK = 50
"""Milliseconds after which a caller is asked again whether it still wants an answer."""

_MOST_SAID = 1 << 16
"""Bytes of standard error that are kept."""


class Ended(Exception):
    """The process has ended without an answer.

    ``code`` is its exit code, or the number of the signal that ended it, below zero. ``said`` is what it wrote to
    standard error, where that was kept.
    """

    def __init__(self, code: int, said: bytes = b"") -> None:
        super().__init__(code, said)
        self.code, self.said = code, said

    @property
    def how(self) -> str:
        """``killed``, the name of another signal, or ``exit code 3``."""
        if self.code == -signal.SIGKILL:
            return "killed"
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"


class Silent(Exception):
    """The process gave no sign of life for so many seconds as it may, and was killed."""


class Cancelled(Exception):
    """Nobody wants the answer any more, and the process was killed."""


class _Process(Protocol):
    """What :class:`subprocess.Popen` gives, of a copy of this process too."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Child:
    """One process that answers requests, started with the first. It runs ``serve(descriptor)`` of a module.

    What it writes to standard error goes where this process writes, or is kept for :class:`Ended`.
    """

    def __init__(self, module: str, *, keeps_errors: bool = False) -> None:
        self._module = module
        self._keeps_errors = keeps_errors
        self._closed = False
        self._said: IO[bytes] | None = None
        self._process: _Process | None = None
        self._channel: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """The process that serves now; ``None`` where none is running."""
        return None if self._process is None else self._process.pid

    def start(self) -> socket.socket:
        """This end of the socket; a process that has ended is replaced first. Raises :class:`EOFError` if closed."""
        if self._closed:
            raise EOFError
        if self._channel is not None and self._process is not None and self._process.poll() is None:
            return self._channel
        self.kill()
        if self._keeps_errors:
            self._said = tempfile.TemporaryFile()  # noqa: SIM115  closed where the process is ended
        own, other = socket.socketpair()
        try:
            with other:
                self._process = self._started(own, other)
        except BaseException:
            own.close()
            self.kill()
            raise
        self._channel = own
        if self._closed:  # meanwhile, by another thread
            self.kill()
            raise EOFError
        return own

    def _started(self, own: socket.socket, other: socket.socket) -> _Process:
        start = _START.format(module=self._module)
        return subprocess.Popen(
            # -P: no json.py of the current folder, which may be anybody's checkout
            [sys.executable, "-P", "-c", start, str(other.fileno()), json.dumps(sys.path)],
            pass_fds=[other.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # it may carry a protocol
            stderr=self._said,
            start_new_session=True,  # a key pressed in the terminal is for this process
        )

    def ask(
        self,
        request: bytes,
        descriptor: int | None = None,
        *,
        progress: Say | None = None,
        silence: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Answered | Failed:
        """The answer to a request, which may come with an open file.

        Raises :class:`Ended`, :class:`Silent` where ``silence`` seconds passed without a message, and
        :class:`Cancelled` where ``cancelled`` became true. After any error the process is gone.
        """
        try:
            channel = self.start()
            send(channel, request, descriptor)
            return self._answer(channel, progress, silence, cancelled)
        except (EOFError, OSError):
            raise self._ended() from None
        except BaseException:
            self.kill()
            raise

    def _answer(
        self,
        channel: socket.socket,
        progress: Say | None,
        silence: float | None,
        cancelled: Callable[[], bool] | None,
    ) -> Answered | Failed:
        channel.settimeout(silence)
        while True:
            self._wait(channel, silence, cancelled)
            try:
                reply = receive_reply(channel)
            except TimeoutError:  # a message that stops in the middle
                raise Silent from None
            if not isinstance(reply, Progress):
                return reply
            if progress:
                progress(reply)

    def _wait(self, channel: socket.socket, silence: float | None, cancelled: Callable[[], bool] | None) -> None:
        """Wait until a message begins to arrive."""
        if silence is None and cancelled is None:
            return  # receiving waits
        since = time.monotonic()
        arrivals = select.poll()
        arrivals.register(channel, select.POLLIN)
        while not arrivals.poll(_LOOK):
            if cancelled is not None and cancelled():
                raise Cancelled
            if silence is not None and time.monotonic() > since + silence:
                raise Silent
        if cancelled is not None and cancelled():
            raise Cancelled

    def kill(self) -> None:
        """End the process at once; the next use starts another one."""
        process, channel, said = self._process, self._channel, self._said
        self._process = self._channel = self._said = None
        if process is not None:
            process.kill()  # before closing: another thread may wait for an answer, and hears that there is none
            process.wait()
        for each in (channel, said):
            if each is not None:
                each.close()

    def close(self) -> None:
        """End the process for good, also where another thread is about to ask it."""
        self._closed = True
        self.kill()

    def _ended(self) -> Ended:
        """How the process ended; it is not running afterwards."""
        code = 0
        if self._process is not None:
            try:
                code = self._process.wait(1)
            except subprocess.TimeoutExpired:
                code = 0
        said = b""
        if self._said is not None:
            self._said.seek(0)
            said = self._said.read(_MOST_SAID)
        self.kill()
        return Ended(code, said)


class Copy(Child):
    """A copy of this process, made at once by ``fork``, that does one piece of work and answers.

    Nothing is loaded and no request is sent. :func:`abistore.limits.may_fork` says when that is sound. Raises
    :class:`OSError` where the system allows no further process.
    """

    def __init__(self, work: Callable[[], Answered | Failed]) -> None:
        super().__init__("", keeps_errors=True)
        self._work = work
        self.start()

    def _started(self, own: socket.socket, other: socket.socket) -> _Process:
        pid = os.fork()
        if not pid:
            from abistore.process.serving import work_and_end

            own.close()
            assert self._said is not None
            work_and_end(other, self._work, self._said)
        return _Forked(pid)

    def answer(self, silence: float | None = None) -> Answered | Failed:
        """What the work gave. Raises :class:`Ended`, and :class:`Silent` after so many seconds."""
        if self._channel is None:
            raise self._ended()
        try:
            return self._answer(self._channel, None, silence, None)
        except (EOFError, OSError):
            raise self._ended() from None
        except BaseException:
            self.kill()
            raise


class _Forked:
    """A process that ``fork`` made."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None and self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        end = time.monotonic() + (timeout or 0)
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
