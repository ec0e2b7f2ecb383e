"""Development packages: the headers of a package's libraries, laid out in a folder that is removed afterwards."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from abistore.errors import HeaderError, LimitExceeded
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.packages.entries import Entry
from abistore.extract.packages.libraries import LIBRARY_FOR_LINKING, is_binary
from abistore.model.labels.sonames import library_name

INCLUDE = "include"
MULTIARCH = re.compile(r"[a-z0-9_]+-[a-z0-9_-]*(?:linux|gnu|musl)[a-z0-9_]*")
"""A folder of ``/usr/include`` that compilers search too: ``x86_64-linux-gnu``."""

MOST_BYTES, MOST_FILES = 256 << 20, 50_000
"""What headers of one package may take on disk."""

_PREFIX, _LOCK = "abistore-headers-", "in-use"


class DevelopmentFiles(msgspec.Struct, frozen=True):
    """The headers of one development package; ``libraries`` are those that programs link to with it."""

    roots: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    libraries: frozenset[str]


@contextmanager
def header_folder() -> Iterator[Path]:
    """A folder that is removed at the end. One that a killed process left behind is removed by the next call."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_left(left)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_left(folder: Path) -> None:
    with suppress(OSError):  # another user's, or gone meanwhile
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(lock)


def lay_out(entries: Iterable[Entry], folder: Path, package: str) -> DevelopmentFiles:
    """Copy the headers of ``entries`` into ``folder``. Raises :class:`HeaderError` where there are none."""
    roots, libraries, size, count = set[str](), set[str](), 0, 0
    for entry in entries:
        if match := LIBRARY_FOR_LINKING.fullmatch(entry.path.rpartition("/")[2]):
            libraries.add(library_name(f"{match[1]}.so"))
        root = _root(entry.path)
        if entry.keep is None or root is None or is_binary(entry.head):
            continue
        with entry.keep() as file:
            size, count = size + file.size, count + 1
            if size > MOST_BYTES or count > MOST_FILES:
                raise LimitExceeded(
                    f"{package}: its headers have more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files"
                )
            _write(folder / entry.path, file.read_at(0, file.size))
        roots.add(root)
    if not roots:
        raise HeaderError(f"{package}: has no headers", "name the package that has the library's include folder")
    found = tuple(folder / root for root in sorted(roots))
    below = (each for root in found for each in sorted(root.iterdir()) if MULTIARCH.fullmatch(each.name))
    return DevelopmentFiles(found, (*found, *(each for each in below if each.is_dir())), frozenset(libraries))


def _root(path: str) -> str | None:
    """The include folder that a path is in."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: parts.index(INCLUDE) + 1]) if INCLUDE in parts else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def headers_for(library: str, packages: Sequence[DevelopmentFiles]) -> HeaderOptions | None:
    """The headers of one library: of the packages that programs link to it with, or that name no library at all.

    The other packages are searched for what these include.
    """
    own = [each for each in packages if library in each.libraries or not each.libraries]
    if not own:
        return None
    return HeaderOptions(
        headers=tuple(root for each in own for root in each.roots),
        include_dirs=tuple(dict.fromkeys(folder for each in (*own, *packages) for folder in each.include_dirs)),
    )
