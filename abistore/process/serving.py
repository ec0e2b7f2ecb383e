"""The other side: a process that answers requests within limits, and ends when nobody is left to ask."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from abistore.process.protocol import Answered, Failed, Say, receive_request, send_reply

DEFECT, STUCK, ORPHANED = 96, 97, 98
"""Exit codes of a process that met a defect of ours, that waited without end, and that nobody waits for."""

_GRACE = 2.0
"""Seconds that a process without a user has to tidy up."""

_LOOK = 0.25
"""Seconds between two looks at whether the process gets on."""

_IDLE = 0.02
"""Seconds of processor time that even a process takes that only waits."""


def serve(descriptor: int, answer: Callable[[bytes, int | None, Say], Answered | Failed]) -> None:
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
