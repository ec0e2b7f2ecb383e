"""Downloads one file over HTTP, from web addresses only, within a total time."""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
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
        raise TransferFailed("not asked: the time for all servers is over")
    course = _Course(threading.Event(), threading.Event())
    threading.Thread(target=_run, args=(url, partial, limits, course), daemon=True).start()
    try:
        if not course.begun.wait(min(limits.silent, _left(limits))):
            raise TransferFailed("timed out: no answer has begun")
        if not course.over.wait(_left(limits)):
            raise TransferFailed("the answer takes too long")
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
    raise TransferFailed(f"it redirects more than {MOST_REDIRECTIONS} times")


def _request(url: str, *, with_user: bool) -> Request:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise TransferFailed(f"{parts.scheme or 'nothing'}: is not asked for files, only http and https are")
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
        raise TransferFailed("the answer is cut off")
