"""Debug files from debuginfod servers, downloaded and cached, and folders that end with their process."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import unquote_to_bytes, urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from abistore.urls import masked

_YOUNG: Final = 60
"""Seconds for which an empty folder may be one that is about to be locked."""


@contextmanager
def own_folder(within: Path, prefix: str) -> Iterator[Path]:
    """A new folder, locked, so that others tell whether its process still lives, and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def remove_left(within: Path, prefix: str) -> None:
    """Remove what processes that were killed left; what cannot be removed stays."""
    try:
        left = sorted(within.glob(f"{prefix}*"))
    except OSError:
        return
    for each in left:
        if _is_abandoned(each):
            shutil.rmtree(each, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # another user's, or gone meanwhile
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return any(folder.iterdir()) or time.time() - os.fstat(lock).st_mtime > _YOUNG
    except OSError:
        return False
    finally:
        os.close(lock)


PIECE: Final = 1 << 20
MOST_REDIRECTIONS: Final = 5
REDIRECTIONS: Final = frozenset({301, 302, 303, 307, 308})


class TransferFailed(Exception):
    """Why there is no file; ``absent`` where the server answered that it has none."""

    def __init__(self, why: str, *, absent: bool = False) -> None:
        super().__init__(why)
        self.absent = absent


class TransferLimits(NamedTuple):
    """How long a server may take to begin, when everything must be over, and how large a file may be."""

    silent: int
    deadline: float
    size: int


@dataclass(slots=True)
class _Course:
    """What a transfer has come to; ``given_up`` tells it that nobody waits for it any more."""

    begun: threading.Event
    over: threading.Event
    given_up: bool = False
    failed: TransferFailed | None = None


def download(url: str, partial: BinaryIO, limits: TransferLimits) -> None:
    """Write what is at ``url`` into ``partial``. Raises :class:`TransferFailed`.

    The transfer is a thread of its own: looking up a name, a handshake, and a header that comes byte by byte cannot be
    interrupted otherwise.
    """
    if not _left(limits):
        raise TransferFailed("not queried: the time limit for all servers has passed")
    course = _Course(threading.Event(), threading.Event())
    threading.Thread(target=_run, args=(url, partial, limits, course), daemon=True).start()
    try:
        if not course.begun.wait(min(limits.silent, _left(limits))):
            raise TransferFailed("timed out before the answer began")
        if not course.over.wait(_left(limits)):
            raise TransferFailed("the answer took too long")
    finally:
        course.given_up = True
    if course.failed is not None:
        raise course.failed


def _left(limits: TransferLimits) -> float:
    return max(limits.deadline - time.monotonic(), 0)


def _run(url: str, partial: BinaryIO, limits: TransferLimits, course: _Course) -> None:
    try:
        with closing(_answer(url, limits)) as answer:
            course.begun.set()
            _keep(answer, partial, limits, course)
    except TransferFailed as error:
        course.failed = error
    except (HTTPException, OSError, ValueError, ArithmeticError) as error:
        course.failed = TransferFailed(
            str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
        )
    finally:
        course.begun.set()
        course.over.set()


def _answer(url: str, limits: TransferLimits) -> HTTPResponse:
    """The answer of a server, or of the one that it sends us to; a user and a password go to the first one only."""
    request = _request(url, with_user=True)
    for _ in range(MOST_REDIRECTIONS + 1):
        try:
            answer: HTTPResponse = _opener().open(request, timeout=limits.silent)
            return answer
        except HTTPError as error:
            error.close()
            elsewhere = error.headers.get("Location")
            if error.code not in REDIRECTIONS or not elsewhere:
                raise TransferFailed(f"{error.code} {error.reason}", absent=error.code == 404) from error
            request = _request(urljoin(request.full_url, elsewhere), with_user=False)
    raise TransferFailed(f"more than {MOST_REDIRECTIONS} redirections")


def _request(url: str, *, with_user: bool) -> Request:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise TransferFailed(f"{parts.scheme or 'nothing'}: unsupported scheme; only http and https are supported")
    if parts.port is not None and not parts.port:
        raise TransferFailed("the port is 0")
    user, at, host = parts.netloc.rpartition("@")
    request = Request(parts._replace(netloc=host).geturl(), headers={"User-Agent": "abistore"})
    if at and with_user:
        request.add_header("Authorization", f"Basic {b64encode(unquote_to_bytes(user)).decode()}")
    return request


def _opener() -> OpenerDirector:
    """Opens web addresses, and none of the files and FTP servers that the usual one opens; it follows nothing."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    return opener


def _keep(answer: HTTPResponse, partial: BinaryIO, limits: TransferLimits, course: _Course) -> None:
    """Write the body. Raises :class:`TransferFailed` where it is too large, cut off, or cannot be written."""
    size = 0
    missing = int(answer.headers.get("Content-Length") or 0)
    while not course.given_up and (piece := answer.read1(PIECE)):
        size += len(piece)
        if max(size, missing) > limits.size:
            raise TransferFailed(f"the answer has more than {limits.size:,} bytes")
        try:
            partial.write(piece)
            partial.flush()
        except OSError as error:
            raise TransferFailed(f"the cache cannot keep it ({error.strerror})") from error
    if size < missing:
        raise TransferFailed("the answer is truncated")


LONGEST_ID = 128
"""Hexadecimal digits of a build-id: four times as many as linkers write, and short enough for a folder's name."""

_SECONDS, _MOST_SECONDS, _DAY = 90, 600, 86_400
"""How long a server may be silent, how long all servers together may take, and the most that can be asked for."""

_HINT = "check DEBUGINFOD_URLS, and that there is room in the cache"

_UNFINISHED = ".abistore-"
"""How folders begin in which files are written until they are complete."""

Judge = Callable[[Path], str]
"""Tells what is wrong with a file, nothing where it is the one that was asked for."""


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file in the cache, or why there is none. ``absent``: every server answered that it has none."""

    path: Path | None
    detail: str = ""
    hint: str = ""
    absent: bool = False


def fetch(build_id: str, max_bytes: int, wrong: Judge) -> FetchedFile:
    """The debug file of ``build_id`` (hexadecimal), from the cache or the first server that has it.

    What is ``wrong`` is not kept, wherever it came from. Reads DEBUGINFOD_URLS, DEBUGINFOD_TIMEOUT and
    DEBUGINFOD_MAXTIME (seconds), DEBUGINFOD_MAXSIZE (bytes), DEBUGINFOD_CACHE_PATH and XDG_CACHE_HOME like the
    reference client (debuginfod_find_debuginfo(3)).
    """
    if len(build_id) > LONGEST_ID:
        return FetchedFile(None, f"its build-id has {len(build_id) // 2:,} bytes, which servers do not support")
    cache = _cache()
    if cache is None:
        return FetchedFile(None, "there is no home folder for the cache", "set DEBUGINFOD_CACHE_PATH")
    target = cache / build_id / "debuginfo"
    if _kept(target, wrong):
        return FetchedFile(target)
    urls = os.environ.get("DEBUGINFOD_URLS", "").split()
    if not urls:
        return FetchedFile(None, "DEBUGINFOD_URLS names no server", "set DEBUGINFOD_URLS")
    try:
        silent, longest = (
            _number("DEBUGINFOD_TIMEOUT", _SECONDS, _DAY),
            _number("DEBUGINFOD_MAXTIME", _MOST_SECONDS, _DAY),
        )
        size = _number("DEBUGINFOD_MAXSIZE", max_bytes, max_bytes)
    except ValueError as error:
        return FetchedFile(None, str(error), "set it to a whole number, or unset it")
    remove_left(cache, _UNFINISHED)
    return _first(urls, target, TransferLimits(silent, time.monotonic() + longest, size), wrong)


def _first(urls: list[str], target: Path, limits: TransferLimits, wrong: Judge) -> FetchedFile:
    """The file of the first server that has it, or what each of them said."""
    problems: list[str] = []
    absent = True
    for url in urls:
        try:
            with _finished(target) as partial:
                download(f"{url.rstrip('/')}/buildid/{target.parent.name}/debuginfo", partial, limits)
                if why := wrong(Path(partial.name)):
                    raise TransferFailed(why)
            return FetchedFile(target)
        except TransferFailed as error:
            absent = absent and error.absent
            problems.append(masked(f"{url}: {error}", _secrets(url)))
        except OSError as error:
            absent = False
            problems.append(masked(f"{url}: the cache cannot keep it ({error.strerror})", _secrets(url)))
    return FetchedFile(None, "; ".join(problems), _HINT, absent)


@contextmanager
def _finished(target: Path) -> Iterator[BinaryIO]:
    """A file to write that becomes ``target`` where the block ends well, and is gone where it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with own_folder(target.parent.parent, _UNFINISHED) as folder, (folder / target.name).open("wb") as partial:
        yield partial
        Path(partial.name).replace(target)


def _kept(target: Path, wrong: Judge) -> bool:
    """Whether the cache has the file; a wrong one is taken out of it."""
    try:
        if not (target.is_file() and target.stat().st_size):
            return False
        if not wrong(target):
            return True
        target.unlink(missing_ok=True)
    except OSError:  # a folder that may not be entered or written: what cannot be used is asked for
        return False
    return False


def _cache() -> Path | None:
    if path := os.environ.get("DEBUGINFOD_CACHE_PATH"):
        return Path(path)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    old = home / ".debuginfod_client_cache"
    return old if old.is_dir() else Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "debuginfod_client"


def _number(variable: str, otherwise: int, most: int) -> int:
    """A number of the environment, at most ``most``; 0 and nothing stand for ``otherwise``. Raises ValueError."""
    text = os.environ.get(variable, "").strip()
    if not (text.isascii() and text.isdigit()) and text:
        raise ValueError(f"{variable} is not a number: {masked(text)[:40]!r}")
    return most if len(text) > 18 else min(int(text or 0) or otherwise, most)


def _secrets(url: str) -> tuple[str, ...]:
    """The passwords and tokens of ``url``, which errors must not show."""
    user = url.partition("://")[2].rpartition("@")[0]
    return (user, user.partition(":")[2])
