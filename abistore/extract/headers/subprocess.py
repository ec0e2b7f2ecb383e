"""Headers read in a process of its own, which can be killed."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from abistore.errors import AbistoreError, HeaderError, LimitExceeded, named_error
from abistore.extract.reader import NO_EDITS, FacetReading, HeaderEdits, HeaderOptions, HeaderReading, HeaderRequest
from abistore.files import confined, roots
from abistore.limits import may_fork
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import is_of_standard_library
from abistore.model.snapshot import Target
from abistore.process import DEFECT, STUCK, Answered, Child, Copy, Ended, Failed, Say, Silent, answer_requests, hold

FEWER_HEADERS = (
    "pass only the library's own headers with --header, and exclude those of other projects with "
    "--private-header; headers that do not parse take longer: fix them with --include-dir and --define"
)

CRASHED = "read fewer headers at once, or exclude the one that crashes it with --private-header"

WITHOUT_LIBCLANG = (
    f"install it: {shlex.join([sys.executable or 'python3', '-m', 'pip', 'install', 'libclang'])}; "
    "without headers everything else works"
)


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
    """What :func:`abistore.extract.headers.reader.work` gives, from another process.

    Raises :class:`HeaderError`, and :class:`LimitExceeded` where a limit was reached.
    """
    request = HeaderRequest(
        options, target, cpp_exports, runtime, roots(), limits.seconds, limits.memory, limits.silence, edits
    )
    answer = _asked(request)
    if isinstance(answer, Failed):
        if answer.names:
            raise HeaderError(answer.message, answer.hint, answer.names)
        raise named_error(answer.kind, answer.message, answer.hint, HeaderError)
    try:
        return msgspec.json.decode(answer.data, type=HeaderReading)
    except msgspec.MsgspecError as error:
        raise HeaderError("the process that read the headers returned an unreadable answer", CRASHED) from error


def _asked(request: HeaderRequest) -> Answered | Failed:
    """The answer of another process. It ends itself; the bound here is for one that cannot."""
    silence = 10 * (request.seconds + request.silence)
    copied = may_fork()
    child = (
        Copy(lambda: _answer(request)) if copied else Child("abistore.extract.headers.subprocess", keeps_errors=True)
    )
    try:
        if isinstance(child, Copy):
            return child.answer(silence)
        return child.ask(encode(request), silence=silence)
    except Silent:
        raise LimitExceeded("reading the headers stopped responding") from None
    except Ended as ended:
        raise _why(ended, request) from None
    finally:
        child.kill()


def _why(ended: Ended, request: HeaderRequest) -> AbistoreError:
    """Why the process ended, as an error."""
    if ended.code == STUCK:
        return LimitExceeded(
            f"reading the headers waited more than {request.silence:g} seconds for a file",
            "a header includes a FIFO, a device, or a file on an unresponsive network",
        )
    if ended.code == -signal.SIGXCPU:
        return LimitExceeded(
            f"reading the headers took more than {request.seconds:,} seconds of processor time", FEWER_HEADERS
        )
    if ended.code == -signal.SIGKILL or _is_out_of_memory(ended):
        return LimitExceeded(
            f"reading the headers took more than {request.memory >> 20:,} MiB of memory", FEWER_HEADERS
        )
    if ended.code == DEFECT:
        raise RuntimeError(ended.said.decode(errors="replace").strip())
    return HeaderError(
        f"libclang crashed while reading the headers ({ended.how})",
        CRASHED,
    )


def _is_out_of_memory(ended: Ended) -> bool:
    """LLVM ends a process that has no memory left, and says so."""
    return ended.code < 0 and (b"out of memory" in ended.said.lower() or b"bad_alloc" in ended.said)


def serve(descriptor: int) -> None:
    """Read the headers that are asked for over the socket ``descriptor``."""

    def answer(data: bytes, _descriptor: int | None, _say: Say) -> Answered | Failed:
        return _answer(msgspec.json.decode(data, type=HeaderRequest, dec_hook=_read))

    answer_requests(descriptor, answer)


def _written(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError  # what msgspec asks of a hook that does not know a type


def _read(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value


def encode(message: HeaderRequest | HeaderReading) -> bytes:
    """A message as JSON: MessagePack has no integers of more than 64 bits."""
    return msgspec.json.encode(message, enc_hook=_written)


def _answer(request: HeaderRequest) -> Answered | Failed:
    """In the other process: what the headers declare."""
    hold(request.seconds, request.memory, request.silence)
    try:
        from abistore.extract.headers.reader import work  # loads libclang

        with confined(request.roots):
            return Answered(encode(work(request)))
    except AbistoreError as error:
        lacks = error.lacks if isinstance(error, HeaderError) else ()
        return Failed(type(error).__name__, error.message, error.hint, names=lacks)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "clang":
            raise
        return Failed("HeaderError", "libclang is missing, which reads headers", WITHOUT_LIBCLANG)
    except RecursionError:
        return Failed("LimitExceeded", "the headers nest types too deeply", "")
    except MemoryError:
        return Failed("LimitExceeded", f"reading the headers took more than {request.memory >> 20:,} MiB of memory", "")


def read_headers(
    options: HeaderOptions,
    target: Target,
    progress: Callable[[str, float], None] | None = None,
    *,
    cpp_exports: bool = False,
    runtime: bool = False,
    edits: HeaderEdits = NO_EDITS,
    limits: HeaderLimits = LIMITS,
) -> FacetReading:
    """What the headers declare to consumers on ``target``.

    ``cpp_exports`` tells that the library exports C++ symbols: headers that both languages can read are C++ then.
    ``runtime`` tells that it is the C++ runtime itself. ``edits`` are read in place of what is on disk.
    Raises :class:`HeaderError` where nothing can be read, and :class:`LimitExceeded`.
    """
    if progress:
        progress("headers", 0.95)
    reading = read_apart(options, target, cpp_exports=cpp_exports, runtime=runtime, edits=edits, limits=limits)
    bare = None if reading.bare is None else frozenset(reading.bare)
    entries, locations = dict(reading.entries), dict(reading.locations)
    return FacetReading(reading.evidence, entries, locations, headers=reading.read, bare=bare)


MACRO: Final = "_GLIBCXX_USE_CXX11_ABI"
FORMER: Final = f"{MACRO}=0"

_STRING: Final = "Ss"
"""How mangled names abbreviate the strings from before C++11; identifiers may hold these letters, too."""

_CURRENT: Final = ("7__cxx11", "B5cxx11")


def as_built(headers: HeaderOptions, exports: Iterable[str]) -> HeaderOptions:
    """``headers`` with the macro that selects the strings from before C++11, where ``exports`` take no others.

    Compilers mangle them otherwise, so that no such export would have a declaration. What the caller defines stays.
    """
    if any(each.partition("=")[0] == MACRO for each in headers.defines) or not takes_former(exports):
        return headers
    return msgspec.structs.replace(headers, defines=(*headers.defines, FORMER))


def takes_former(exports: Iterable[str]) -> bool:
    """Whether ``exports`` take strings from before C++11, and none of them takes those since.

    What a static runtime brings along has both, and tells nothing about the library.
    """
    held = [each for each in exports if not is_of_standard_library(each)]
    if any(mark in each for each in held for mark in _CURRENT):
        return False
    return any("std::string" in demangle(each) for each in held if _STRING in each)
