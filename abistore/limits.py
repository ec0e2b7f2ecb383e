"""Limits of time and memory, and whether this process may be copied."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import process_time
from types import FrameType
from typing import TYPE_CHECKING

from abistore.errors import LimitExceeded

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SECONDS, SECONDS_PER_MEGABYTE = 30.0, 4.0
BYTES, BYTES_PER_BYTE = 2 << 30, 16
"""The base limits, and what each byte of input adds: about forty times what real libraries need."""

_EARLY = 0.05
"""How many seconds the kernel's clock may be ahead of the interpreter's."""


class _Expired(BaseException):
    """The time is over. No Exception, so that no handler takes it for an error in the input."""


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
        """How many bytes are allowed: as asked for, or as an outer limit leaves."""
        return max(self._ceiling() - self._used, 0)

    def _ceiling(self) -> int:
        import resource

        around = (limit for limit in (self._around, self._hard) if limit != resource.RLIM_INFINITY)
        return min([self._used + self._bytes, *around])

    @property
    def ends_first(self) -> bool:
        """Whether no outer limit ends before this one."""
        return self.outer is None or self.deadline < self.outer.soonest

    @property
    def soonest(self) -> float:
        """When the first limit ends, this one or an outer one."""
        return self.deadline if self.outer is None else min(self.deadline, self.outer.soonest)

    def enforce(self) -> None:
        """Tell the kernel what is in force now."""
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (self._ceiling(), self._hard))
        self.set_timer()

    def set_timer(self) -> None:
        """Ask for a signal when the first limit ends."""
        # The second figure repeats the signal: one that lands where its exception is swallowed must come again.
        signal.setitimer(signal.ITIMER_PROF, max(self.soonest - process_time(), 0.001), 1.0)

    def extend(self, seconds: float, bytes: int) -> None:
        """Allow more."""
        self.seconds += seconds
        self.deadline += seconds
        self._bytes += bytes
        self.enforce()

    def lift(self) -> None:
        """Restore what held before."""
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (self._around, self._hard))
        if self.outer is None:
            signal.setitimer(signal.ITIMER_PROF, 0.0, 0.0)
        else:
            self.outer.set_timer()


_innermost: _Limits | None = None

_UNMAPPED = "failed to map segment"
"""What the loader says of an extension module that is imported for the first time when memory has run out."""


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: the system and the loader of modules say so in their own ways."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or _UNMAPPED in str(error)


@contextmanager
def limits(seconds: float, bytes: int, doing: str = "reading") -> Iterator[None]:
    """Limit the body to ``seconds`` of processor time and to ``bytes`` of further address space.

    Raises :class:`LimitExceeded` when either runs out, or when the body recurses too deeply. ``doing`` begins the
    message, as in "judging libfoo 1.2 against 1.1". Limits nest, and the outer ones still hold. Only the main thread
    can be limited, and only on platforms that have these limits; elsewhere the body runs without. For files that
    threads read there is ``abistore.extract.workers``.
    """
    global _innermost
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    handler = signal.signal(signal.SIGPROF, _expire)
    hook, sys.unraisablehook = sys.unraisablehook, _hook_around(sys.unraisablehook)
    own = _innermost = _Limits(seconds, bytes, _innermost)
    try:
        own.enforce()
        yield
    except _Expired:
        if not own.ends_first:
            raise
        raise LimitExceeded(f"{doing} took more than {own.seconds:,.0f} seconds of processor time") from None
    except (MemoryError, ImportError, OSError) as error:
        if not _is_out_of_memory(error):
            raise
        raise LimitExceeded(f"{doing} took more than {own.allowed >> 20:,} MiB of memory") from None
    except RecursionError:
        raise LimitExceeded(f"{doing} found data that are nested too deeply") from None
    finally:
        _innermost = own.outer
        own.lift()
        sys.unraisablehook = hook
        signal.signal(signal.SIGPROF, handler)


def limits_for(size: int, doing: str = "reading") -> AbstractContextManager[None]:
    """The usual :func:`limits` for work on ``size`` bytes of input."""
    return limits(SECONDS + SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES + BYTES_PER_BYTE * size, doing)


def allow_more(size: int) -> None:
    """Extend the innermost limits by what ``size`` more bytes of input need, within the outer limits.

    Without limits, the call does nothing.
    """
    if _innermost is not None and threading.current_thread() is threading.main_thread():
        _innermost.extend(SECONDS_PER_MEGABYTE * size / (1 << 20), BYTES_PER_BYTE * size)


def _expire(_signal: int, _frame: FrameType | None) -> None:
    if _innermost is not None and process_time() >= _innermost.soonest - _EARLY:
        raise _Expired


def _hook_around(hook: Callable[[UnraisableHookArgs], object]) -> Callable[[UnraisableHookArgs], object]:
    """``hook`` for all but an expiry that lands in a finaliser: the interpreter swallows it, so it is repeated."""

    def told(unraisable: UnraisableHookArgs) -> None:
        if unraisable.exc_type is not _Expired:
            hook(unraisable)
        elif _innermost is not None:
            _innermost.set_timer()

    return told


def _used_bytes() -> int:
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def may_fork() -> bool:
    """Whether no other thread runs, also none of a library in C: it may hold locks that nobody opens in the copy."""
    if not hasattr(os, "fork"):
        return False
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1  # proc(5)
    except OSError:
        return threading.active_count() == 1
