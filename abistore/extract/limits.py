"""Time and memory limits for reading one file, enforced by the kernel."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

from abistore.errors import LimitExceeded

SECONDS, SECONDS_PER_MEGABYTE = 30.0, 4.0
BYTES, BYTES_PER_BYTE = 2 << 30, 16
"""What any file may take, and what each of its bytes adds: about forty times what real libraries were seen to need."""


class _Expired(BaseException):
    """The time is over. Not an Exception, so that no handler on the way takes it for a flaw of the file."""


@contextmanager
def limits(seconds: float, bytes: int) -> Iterator[None]:
    """Bounds the body to ``seconds`` of processor time and to ``bytes`` of further address space.

    Raises :class:`LimitExceeded` when either runs out; what was set before is set again in any case. Only the main
    thread of a process can be limited, and only where the platform has these limits: elsewhere the body just runs.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    try:
        with _address_space(bytes), _processor_time(seconds):
            yield
    except _Expired:
        raise LimitExceeded(f"reading took more than {seconds:,.0f} seconds of processor time") from None
    except MemoryError:
        raise LimitExceeded(f"reading took more than {bytes >> 20:,} MiB of memory") from None


def limits_for(size: int) -> AbstractContextManager[None]:
    """The default :func:`limits` for reading files of ``size`` bytes together."""
    return limits(SECONDS + SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES + BYTES_PER_BYTE * size)


@contextmanager
def _processor_time(seconds: float) -> Iterator[None]:
    def expire(_signal: int, _frame: FrameType | None) -> None:
        raise _Expired

    before = signal.signal(signal.SIGPROF, expire)
    # The second figure repeats the signal: one that lands in a finaliser is swallowed by the interpreter.
    timer = signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *timer)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _address_space(bytes: int) -> Iterator[None]:
    import resource  # absent on Windows, where the caller did not come this far

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _used_bytes() + bytes
    ceiling = min((limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY), default=wanted)
    resource.setrlimit(resource.RLIMIT_AS, (min(wanted, ceiling), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _used_bytes() -> int:
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
