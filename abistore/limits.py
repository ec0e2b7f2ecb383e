"""Time and memory limits around any work on what others have written, enforced by the kernel."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import process_time
from types import FrameType

from abistore.errors import LimitExceeded

SECONDS, SECONDS_PER_MEGABYTE = 30.0, 4.0
BYTES, BYTES_PER_BYTE = 2 << 30, 16
"""What any work may take, and what each byte of its input adds: about forty times what real libraries need."""

_EARLY = 0.05
"""Seconds by which the kernel's clock may run ahead of the interpreter's."""

_deadline: float | None = None
"""When the innermost limit ends that ends first, in processor time of this process."""


class _Expired(BaseException):
    """The time is over. Not an Exception, so that no handler on the way takes it for a flaw of the input."""


@contextmanager
def limits(seconds: float, bytes: int, doing: str = "reading") -> Iterator[None]:
    """Bounds the body to ``seconds`` of processor time and to ``bytes`` of further address space.

    Raises :class:`LimitExceeded` when either runs out, or when the body calls itself too deeply: ``doing`` begins its
    message, as in "judging libfoo 1.2 against 1.1". What was set before is set again in any case. Limits nest: within
    others none lasts longer or takes more than these. Only the main thread of a process can be limited, and only where
    the platform has these limits: elsewhere the body just runs.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    with _address_space(bytes) as allowed, _processor_time(seconds, doing):
        try:
            yield
        except MemoryError:
            raise LimitExceeded(f"{doing} took more than {allowed >> 20:,} MiB of memory") from None
        except RecursionError:
            raise LimitExceeded(f"{doing} met what is nested too deeply") from None


def limits_for(size: int, doing: str = "reading") -> AbstractContextManager[None]:
    """The default :func:`limits` for work on ``size`` bytes of input."""
    return limits(SECONDS + SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES + BYTES_PER_BYTE * size, doing)


@contextmanager
def _processor_time(seconds: float, doing: str) -> Iterator[None]:
    global _deadline
    outer, own = _deadline, process_time() + seconds
    if outer is not None and outer <= own:
        yield  # the time around this is over sooner, and tells so itself
        return
    handler = signal.signal(signal.SIGPROF, _expire)
    _deadline = own
    # The second figure repeats the signal: one that lands in a finaliser is swallowed by the interpreter.
    timer = signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    except _Expired:
        raise LimitExceeded(f"{doing} took more than {seconds:,.0f} seconds of processor time") from None
    finally:
        _deadline = outer
        rest = timer if outer is None else (max(outer - process_time(), 0.001), 1.0)
        signal.setitimer(signal.ITIMER_PROF, *rest)
        signal.signal(signal.SIGPROF, handler)


def _expire(_signal: int, _frame: FrameType | None) -> None:
    if _deadline is not None and process_time() >= _deadline - _EARLY:
        raise _Expired


@contextmanager
def _address_space(bytes: int) -> Iterator[int]:
    """Gives how many bytes there are: ``bytes``, or what a limit around this leaves."""
    import resource  # absent on Windows, where the caller did not come this far

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = _used_bytes()
    ceiling = min([used + bytes, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_AS, (ceiling, hard))
    try:
        yield max(ceiling - used, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _used_bytes() -> int:
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
