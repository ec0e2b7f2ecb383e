"""Debug files from the servers of DEBUGINFOD_URLS, kept where the reference client keeps them."""

from __future__ import annotations

import os
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import Request, urlopen

from abistore.urls import masked

_PIECE = 1 << 20
_SECONDS, _MOST_SECONDS = 90, 600
"""How long a server may be silent, and how long one transfer may take."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file in the cache, or why there is none. ``absent``: every server answered that it has none."""

    path: Path | None
    detail: str = ""
    hint: str = ""
    absent: bool = False


class _Refused(Exception):
    """A transfer that must not be kept."""


def fetch(build_id: str, max_bytes: int) -> Fetched:
    """The debug file of ``build_id`` (hexadecimal), from the cache or the first server that has it.

    Reads DEBUGINFOD_URLS, DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME (seconds), DEBUGINFOD_MAXSIZE (bytes),
    DEBUGINFOD_CACHE_PATH and XDG_CACHE_HOME like the reference client (debuginfod_find_debuginfo(3)).
    """
    cache = _cache()
    if cache is None:
        return Fetched(None, "there is no home folder for the cache", "set DEBUGINFOD_CACHE_PATH")
    target = cache / build_id / "debuginfo"
    if target.is_file() and target.stat().st_size:
        return Fetched(target)
    urls = [url for url in os.environ.get("DEBUGINFOD_URLS", "").split() if url.startswith(("http://", "https://"))]
    if not urls:
        return Fetched(None, "DEBUGINFOD_URLS names no http server", "set DEBUGINFOD_URLS")
    limit = min(max_bytes, _number("DEBUGINFOD_MAXSIZE", max_bytes))
    problems: list[str] = []
    absent = True
    for url in urls:
        try:
            _download(f"{url.rstrip('/')}/buildid/{build_id}/debuginfo", target, limit)
            return Fetched(target)
        except HTTPError as error:
            error.close()
            absent = absent and error.code == 404
            problems.append(masked(f"{url}: {error.code} {error.reason}", _secrets(url)))
        except (HTTPException, OSError, ValueError, _Refused) as error:
            absent = False
            reason = error.reason if isinstance(error, URLError) else error
            problems.append(masked(f"{url}: {reason}", _secrets(url)))
    return Fetched(None, "; ".join(problems), "check DEBUGINFOD_URLS", absent)


def _cache() -> Path | None:
    if path := os.environ.get("DEBUGINFOD_CACHE_PATH"):
        return Path(path)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    old = home / ".debuginfod_client_cache"
    return old if old.is_dir() else Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "debuginfod_client"


def _number(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable, "")
    return (int(text) if text.isascii() and text.isdigit() else 0) or otherwise


def _download(url: str, target: Path, limit: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        urlopen(_request(url), timeout=_number("DEBUGINFOD_TIMEOUT", _SECONDS)) as answer,
        tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file,
    ):
        try:
            size = 0
            for piece in _pieces(answer):
                size += len(piece)
                if size > limit:
                    raise _Refused(f"the answer has more than {limit:,} bytes")
                file.write(piece)
            file.flush()
            Path(file.name).replace(target)
        finally:
            Path(file.name).unlink(missing_ok=True)


def _request(url: str) -> Request:
    """What to ask the server; a user and a password in ``url`` go to this server only, whatever it redirects to."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    request = Request(parts._replace(netloc=host).geturl(), headers={"User-Agent": "abistore"})
    if at:
        token = b64encode(unquote_to_bytes(user)).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    return request


def _secrets(url: str) -> tuple[str, ...]:
    """What an error may quote of ``url`` and nobody may read."""
    user = url.partition("://")[2].rpartition("@")[0]
    return (user, user.partition(":")[2])


def _pieces(answer: HTTPResponse) -> Iterator[bytes]:
    """The body in pieces. Raises :class:`_Refused` where it is cut off or takes too long."""
    deadline = time.monotonic() + _number("DEBUGINFOD_MAXTIME", _MOST_SECONDS)
    missing = int(answer.headers.get("Content-Length") or 0)
    while piece := answer.read1(_PIECE):
        missing -= len(piece)
        yield piece
        if time.monotonic() > deadline:
            raise _Refused("the answer takes too long")
    if missing > 0:
        raise _Refused("the answer is cut off")
