"""Debug files from the servers of DEBUGINFOD_URLS, kept where the reference client keeps them."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

_PIECE = 1 << 20
_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file in the cache, or why there is none."""

    path: Path | None
    detail: str = ""
    hint: str = ""


def fetch(build_id: str, max_bytes: int) -> Fetched:
    """The debug file of ``build_id`` (hexadecimal), from the cache or the first server that has it.

    Reads DEBUGINFOD_URLS, DEBUGINFOD_TIMEOUT (seconds), DEBUGINFOD_MAXSIZE (bytes), DEBUGINFOD_CACHE_PATH and
    XDG_CACHE_HOME like the reference client (debuginfod_find_debuginfo(3)).
    """
    target = _cache() / build_id / "debuginfo"
    if target.is_file() and target.stat().st_size:
        return Fetched(target)
    urls = [url for url in os.environ.get("DEBUGINFOD_URLS", "").split() if url.startswith(("http://", "https://"))]
    if not urls:
        return Fetched(None, "DEBUGINFOD_URLS names no http server", "set DEBUGINFOD_URLS")
    limit = min(max_bytes, _number("DEBUGINFOD_MAXSIZE") or max_bytes)
    problems = [_download(f"{url.rstrip('/')}/buildid/{build_id}/debuginfo", target, limit) for url in urls[:1]]
    for url in urls[1:]:
        if problems[-1]:
            problems.append(_download(f"{url.rstrip('/')}/buildid/{build_id}/debuginfo", target, limit))
    return Fetched(None, "; ".join(problems), "check DEBUGINFOD_URLS") if problems[-1] else Fetched(target)


def _cache() -> Path:
    if path := os.environ.get("DEBUGINFOD_CACHE_PATH"):
        return Path(path)
    old = Path.home() / ".debuginfod_client_cache"
    if old.is_dir():
        return old
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debuginfod_client"


def _number(variable: str) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _download(url: str, target: Path, limit: int) -> str:
    """Fills ``target`` from ``url``; the text of what went wrong, or nothing."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        request = Request(url, headers={"User-Agent": "abistore"})
        with urlopen(request, timeout=_number("DEBUGINFOD_TIMEOUT") or _SECONDS) as answer:
            return _store(answer, target, limit)
    except HTTPError as error:
        error.close()
        return f"{url}: {error.code} {error.reason}"
    except URLError as error:
        return f"{url}: {error.reason}"
    except (OSError, ValueError) as error:
        return f"{url}: {error}"


def _store(answer: IO[bytes], target: Path, limit: int) -> str:
    size = 0
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        try:
            while piece := answer.read(_PIECE):
                size += len(piece)
                if size > limit:
                    return f"more than the limit of {limit:,} bytes"
                file.write(piece)
            file.flush()
            Path(file.name).replace(target)
        finally:
            Path(file.name).unlink(missing_ok=True)
    return ""
