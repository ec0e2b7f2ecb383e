"""Debug files from the servers of DEBUGINFOD_URLS, kept where the reference client keeps them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from abistore.extract.debuginfod.transfer import TransferFailed, TransferLimits, download
from abistore.extract.own_folders import own_folder, remove_left
from abistore.urls import masked

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
        return FetchedFile(
            None, f"its build-id has {len(build_id) // 2:,} bytes, and no server is asked for such a one"
        )
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
        raise ValueError(f"{variable} is {masked(text)[:40]!r}, which is no number")
    return most if len(text) > 18 else min(int(text or 0) or otherwise, most)


def _secrets(url: str) -> tuple[str, ...]:
    """The passwords and tokens of ``url``, which errors must not show."""
    user = url.partition("://")[2].rpartition("@")[0]
    return (user, user.partition(":")[2])
