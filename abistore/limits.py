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


class _Expired(BaseException):
    """The time is over. Not an Exception, so that no handler on the way takes it for a flaw of the input."""


class _Limits:
    """Limits in force. ``deadline`` is in processor time of this process; ``allowed`` is in bytes above ``used``."""

    def __init__(self, seconds: float, bytes: int, outer: _Limits | None) -> None:
        import resource  # absent on Windows, where no limits are made

        self.outer = outer
        self.seconds = seconds
        self.deadline = process_time() + seconds
        self._around, self._hard = resource.getrlimit(resource.RLIMIT_AS)
        self._used = _used_bytes()
        self._bytes = bytes

    @property
    def allowed(self) -> int:
        """How many bytes there are: what was asked for, or what a limit around this leaves."""
        return max(self._ceiling() - self._used, 0)

    def _ceiling(self) -> int:
        import resource

        around = (limit for limit in (self._around, self._hard) if limit != resource.RLIM_INFINITY)
        return min([self._used + self._bytes, *around])

    @property
    def ends_first(self) -> bool:
        """Whether no limit around this one ends before it does."""
        return self.outer is None or self.deadline < self.outer.soonest

    @property
    def soonest(self) -> float:
        """When the first limit ends, this one or one around it."""
        return self.deadline if self.outer is None else min(self.deadline, self.outer.soonest)

    def enforce(self) -> None:
        """Lets the kernel hold what is in force now."""
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (self._ceiling(), self._hard))
        self.set_timer()

    def set_timer(self) -> None:
        """Has a signal come when the first limit ends."""
        # The second figure repeats the signal: one that lands in a finaliser is swallowed by the interpreter.
        signal.setitimer(signal.ITIMER_PROF, max(self.soonest - process_time(), 0.001), 1.0)

    def extend(self, seconds: float, bytes: int) -> None:
        """Allows more."""
        self.seconds += seconds
        self.deadline += seconds
        self._bytes += bytes
        self.enforce()

    def lift(self) -> None:
        """Sets again what held before."""
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (self._around, self._hard))
        if self.outer is None:
            signal.setitimer(signal.ITIMER_PROF, 0.0, 0.0)
        else:
            self.outer.set_timer()


_innermost: _Limits | None = None


@contextmanager
def limits(seconds: float, bytes: int, doing: str = "reading") -> Iterator[None]:
    """Bounds the body to ``seconds`` of processor time and to ``bytes`` of further address space.

    Raises :class:`LimitExceeded` when either runs out, or when the body calls itself too deeply: ``doing`` begins its
    message, as in "judging libfoo 1.2 against 1.1". What was set before is set again in any case. Limits nest: within
    others none lasts longer or takes more than these. Only the main thread of a process can be limited, and only where
    the platform has these limits: elsewhere the body just runs. Threads have files read by ``abistore.extract.worker``.
    """
    global _innermost
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    handler = signal.signal(signal.SIGPROF, _expire)
    own = _innermost = _Limits(seconds, bytes, _innermost)
    try:
        own.enforce()
        yield
    except _Expired:
        if not own.ends_first:
            raise
        raise LimitExceeded(f"{doing} took more than {own.seconds:,.0f} seconds of processor time") from None
    except MemoryError:
        raise LimitExceeded(f"{doing} took more than {own.allowed >> 20:,} MiB of memory") from None
    except RecursionError:
        raise LimitExceeded(f"{doing} met what is nested too deeply") from None
    finally:
        _innermost = own.outer
        own.lift()
        signal.signal(signal.SIGPROF, handler)


def limits_for(size: int, doing: str = "reading") -> AbstractContextManager[None]:
    """The default :func:`limits` for work on ``size`` bytes of input."""
    return limits(SECONDS + SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES + BYTES_PER_BYTE * size, doing)


def allow_more(size: int) -> None:
    """Extends the innermost limits around the call by what ``size`` more bytes of input need.

    What limits around these leave is never exceeded. Where no limits hold, the call does nothing.
    """
    if _innermost is not None and threading.current_thread() is threading.main_thread():
        _innermost.extend(SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES_PER_BYTE * size)


def _expire(_signal: int, _frame: FrameType | None) -> None:
    if _innermost is not None and process_time() >= _innermost.soonest - _EARLY:
        raise _Expired


def _used_bytes() -> int:
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
