"""Processes that work for this one, and can be killed at any moment: their messages, their limits, starting them.

A message is a length, then the bytes, and perhaps an open file. A request is bytes that both sides understand. Answers
are decoded by :mod:`msgspec` and never pickled: a file that took over the process may have made them.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn, Protocol, TypeAlias

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


DEFECT, STUCK, ORPHANED = 96, 97, 98
"""Exit codes of a process that met a defect of ours, that waited without end, and that nobody waits for."""

_GRACE = 2.0
"""Seconds that a process without a user has to tidy up."""

_LOOK = 0.25
"""Seconds between two looks at whether the process gets on."""

_IDLE = 0.02
"""Seconds of processor time that even a process takes that only waits."""


def answer_requests(descriptor: int, answer: Callable[[bytes, int | None, Say], Answered | Failed]) -> None:
    """Answer the requests that come over the socket ``descriptor``, until its other end is closed."""
    with socket.socket(fileno=descriptor) as channel:
        working = _end_with_user(channel)
        while (received := receive_request(channel)) is not None:
            working.set()
            send_reply(channel, answer(*received, lambda told: send_reply(channel, told)))
            working.clear()


def work_and_end(channel: socket.socket, work: Callable[[], Answered | Failed], said: IO[bytes]) -> NoReturn:
    """In the copy of a process: work, answer, and end without tidying up what belongs to the original."""
    code = 1
    try:
        gc.freeze()  # what was there before is not looked at, and so not copied
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the original is interrupted, and ends this process
        with Path(os.devnull).open("r+b") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(nothing.fileno(), 1)
        os.dup2(said.fileno(), 2)
        _end_with_user(channel).set()
        send_reply(channel, work())
        code = 0
    except BaseException:  # a copy of a process must end here, also by an interrupt, and not go on as its original
        said.write(traceback.format_exc().encode())
        said.flush()
        code = DEFECT
    finally:
        os._exit(code)


def _end_with_user(channel: socket.socket) -> threading.Event:
    """Watch for the end of who asks, however it ends, and end this process then, also in mid-work.

    The event that is returned is set while there is work: without any, the process sees the end by itself.
    """

    def orphaned(_signal: int, _frame: FrameType | None) -> None:
        sys.exit(ORPHANED)

    def watch() -> None:
        ends = select.poll()
        with suppress(OSError, ValueError):  # closed: this process is about to end
            ends.register(channel, 0)  # nothing but that the other end is closed
            ends.poll()
            if working.is_set():
                os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE)
        os._exit(ORPHANED)

    working = threading.Event()
    signal.signal(signal.SIGTERM, orphaned)
    threading.Thread(target=watch, daemon=True).start()
    return working


def hold(seconds: int, memory: int, silence: float) -> None:
    """Have the kernel end this process where it takes more than this from now on, and a thread where it only waits.

    ``seconds`` are of processor time, ``memory`` is in bytes of address space, and for ``silence`` seconds nothing may
    happen. Work in C holds no Python signal, but these.
    """
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    spent = int(time.process_time()) + 1
    for kind, most in ((resource.RLIMIT_CPU, spent + seconds), (resource.RLIMIT_AS, memory + _mapped())):
        soft, hard = resource.getrlimit(kind)
        held = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min([most, *held]), hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever waits is interrupted, and ends this process
    threading.Thread(target=_end_where_stuck, args=(silence,), daemon=True).start()


def _mapped() -> int:
    """Bytes of address space that this process has already: the copy of a large one would have nothing left to read in.

    Without any, libclang does not end but waits for ever, and no thread of this process runs.
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _end_where_stuck(silence: float) -> None:
    worked, since = time.process_time(), time.monotonic()
    while time.monotonic() - since <= silence:
        time.sleep(_LOOK)
        now = time.process_time()
        if now - worked > _IDLE:
            worked, since = now, time.monotonic()
    os._exit(STUCK)


_START = "import json,sys; sys.path[:]=json.loads(sys.argv[2]); from {module} import serve; serve(int(sys.argv[1]))"

_POLL = 50
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
        while not arrivals.poll(_POLL):
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
