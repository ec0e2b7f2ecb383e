"""Headers are read in a process of their own: what hangs, crashes or takes too much there ends that process alone."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from abistore.child import Child, receive, send
from abistore.confinement import confined, roots
from abistore.copying import may_fork
from abistore.errors import AbistoreError, HeaderError, LimitExceeded
from abistore.extract.headers.messages import (
    HeaderReading,
    HeaderRequest,
    ReadingFailure,
    decode_answer,
    decode_request,
    encode,
)
from abistore.extract.headers.options import NO_EDITS, HeaderEdits, HeaderOptions
from abistore.model.snapshot import Target

DEFECT, STUCK, ORPHANED = 96, 97, 98
"""Exit codes of a process that met a defect of ours, that waited without end, and that nobody waits for."""

_LOOK = 0.25
"""Seconds between two looks at whether the process gets on."""

FEWER_HEADERS = (
    "name the library's own headers with --header, and hide those of other projects with --private-header; "
    "a header that does not parse is read again by itself: --include-dir and --define mend it"
)

_IDLE = 0.02
"""Seconds of processor time that even a process takes that only waits."""


class HeaderLimits(msgspec.Struct, frozen=True):
    """What reading headers may take: ``seconds`` of processor time, ``memory`` in bytes of address space.

    ``silence`` is how many seconds may pass without any work: so long a FIFO behind an ``#include`` is waited for.
    """

    seconds: int = 120
    memory: int = 4 << 30
    silence: float = 20.0


LIMITS = HeaderLimits()


def read_apart(
    options: HeaderOptions,
    target: Target,
    *,
    cpp_exports: bool,
    runtime: bool,
    edits: HeaderEdits = NO_EDITS,
    limits: HeaderLimits = LIMITS,
) -> HeaderReading:
    """What :func:`abistore.extract.headers.work.work` gives, from another process.

    Raises :class:`HeaderError`, and :class:`LimitExceeded` where a limit was reached.
    """
    request = HeaderRequest(
        options, target, cpp_exports, runtime, roots(), limits.seconds, limits.memory, limits.silence, edits
    )
    answer = _forked(request) if may_fork() else _spawned(request)
    if isinstance(answer, ReadingFailure):
        raise answer.error()
    return answer


# --- this side -------------------------------------------------------------------------------------------------------


def _forked(request: HeaderRequest) -> HeaderReading | ReadingFailure:
    own, other = socket.socketpair()
    with tempfile.TemporaryFile() as said, own:
        child = os.fork()
        if not child:
            own.close()
            _work_and_end(other, request, said)
        other.close()
        status: int | None = None
        try:
            answer = _received(own, request)
            if answer is None:
                _, status = os.waitpid(child, 0)
        finally:
            if status is None:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if answer is not None:
            return answer
        assert status is not None
        raise _ended(os.waitstatus_to_exitcode(status), request, said)


def _spawned(request: HeaderRequest) -> HeaderReading | ReadingFailure:
    child = Child("abistore.extract.headers.apart")
    try:
        channel = child.channel()
        send(channel, encode(request))
        answer = _received(channel, request)
        if answer is not None:
            return answer
        how = child.how_it_ended()
    finally:
        child.kill()
    code = getattr(signal, how, None)
    raise _ended(-code if code else _number(how), request, None)


def _number(how: str) -> int:
    return -signal.SIGKILL if how == "killed" else int(how.removeprefix("exit code "))


def _received(channel: socket.socket, request: HeaderRequest) -> HeaderReading | ReadingFailure | None:
    """The answer; ``None`` where the process ended without one. Raises :class:`LimitExceeded`."""
    # the process ends itself; this is for one that cannot
    deadline = time.monotonic() + 10 * (request.seconds + request.silence)
    arrivals = select.poll()
    arrivals.register(channel, select.POLLIN)
    while not arrivals.poll(1000):
        if time.monotonic() > deadline:
            raise LimitExceeded("reading the headers gave no sign of life")
    try:
        return decode_answer(receive(channel))
    except (EOFError, OSError, msgspec.MsgspecError):
        return None


def _ended(code: int, request: HeaderRequest, said: IO[bytes] | None) -> AbistoreError:
    """Why the process ended, as an error."""
    if code == STUCK:
        return LimitExceeded(
            f"reading the headers waited more than {request.silence:g} seconds for a file",
            "a header includes a FIFO, a device, or a file of a network that does not answer",
        )
    if code == -signal.SIGXCPU:
        return LimitExceeded(
            f"reading the headers took more than {request.seconds:,} seconds of processor time", FEWER_HEADERS
        )
    if code == -signal.SIGKILL or _is_out_of_memory(code, said):
        return LimitExceeded(
            f"reading the headers took more than {request.memory >> 20:,} MiB of memory", FEWER_HEADERS
        )
    if code == DEFECT and said is not None:
        said.seek(0)
        raise RuntimeError(said.read().decode(errors="replace").strip())
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return HeaderError(
        f"libclang crashed while it read the headers ({how})",
        "read fewer headers at once, or hide the one that crashes it with --private-header",
    )


def _is_out_of_memory(code: int, said: IO[bytes] | None) -> bool:
    """LLVM ends a process that has no memory left, and says so."""
    if said is None or code >= 0:
        return False
    said.seek(0)
    told = said.read(1 << 16)
    return b"out of memory" in told.lower() or b"bad_alloc" in told


# --- the other side --------------------------------------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Answers the one request that comes over the socket ``descriptor``."""
    with socket.socket(fileno=descriptor) as channel:
        send(channel, _answer(decode_request(receive(channel))))


def _work_and_end(channel: socket.socket, request: HeaderRequest, said: IO[bytes]) -> None:
    """In the copy of a process: work, answer, and end without tidying up what belongs to the other."""
    code = 1
    try:
        gc.freeze()  # what was there before is not looked at, and so not copied
        with Path(os.devnull).open("r+b") as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(nothing.fileno(), 1)
        os.dup2(said.fileno(), 2)
        send(channel, _answer(request))
        code = 0
    except BaseException:  # a copy of a process must end here, also by an interrupt, and not go on as its original
        said.write(traceback.format_exc().encode())
        said.flush()
        code = DEFECT
    finally:
        os._exit(code)


def _answer(request: HeaderRequest) -> bytes:
    _limit(request)
    try:
        from abistore.extract.headers.work import work  # loads libclang

        with confined(request.roots):
            return encode(work(request))
    except AbistoreError as error:
        return encode(ReadingFailure(type(error).__name__, error.message, error.hint))
    except RecursionError:
        return encode(ReadingFailure("LimitExceeded", "the headers nest types too deeply", ""))
    except MemoryError:
        message = f"reading the headers took more than {request.memory >> 20:,} MiB of memory"
        return encode(ReadingFailure("LimitExceeded", message, ""))


def _limit(request: HeaderRequest) -> None:
    """Have the kernel end this process where it takes too much, and a thread where it waits or is left alone."""
    import resource

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    spent = int(time.process_time()) + 1
    memory = request.memory + _mapped()
    for kind, most in ((resource.RLIMIT_CPU, spent + request.seconds), (resource.RLIMIT_AS, memory)):
        soft, hard = resource.getrlimit(kind)
        held = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min([most, *held]), hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever waits is interrupted, and ends this process
    threading.Thread(target=_watch, args=(request.silence, os.getppid(), os._exit), daemon=True).start()


def _mapped() -> int:
    """Bytes of address space that this process has already: the copy of a large one would have nothing left to read in.

    Without any, libclang does not end but waits for ever, and no thread of this process runs.
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _watch(silence: float, parent: int, end: Callable[[int], object]) -> None:
    worked, since = time.process_time(), time.monotonic()
    while True:
        time.sleep(_LOOK)
        now = time.process_time()
        if now - worked > _IDLE:
            worked, since = now, time.monotonic()
        if os.getppid() != parent:
            end(ORPHANED)
        if time.monotonic() - since > silence:
            end(STUCK)
