"""Files read and written only within allowed folders, or written whole, and the place of a project's file.

Files that others name: opened once, below the folders that may be read, and judged by what was opened.

The server that agents ask over HTTP reads nothing else. A link, ``..``, ``/proc`` or a linker script that leads out of
the folders is refused, and so is a path that somebody changes meanwhile: what was judged is what is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from abistore.errors import PathDenied


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file, in the place of one that is there. Raises :class:`OSError`.

    Until it is complete it stands beside that, under a name that nobody can have put a link at.
    """
    handle, draft = _draft(path)
    with os.fdopen(handle, "wb") as file:
        try:
            file.writelines(pieces)
            file.flush()
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise the :class:`OSError` that :func:`write_whole` would raise, and write nothing."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    handle, draft = _draft(path)
    os.close(handle)
    draft.unlink()


def _draft(path: Path) -> tuple[int, Path]:
    draft = path.with_name(f".abistore-{os.urandom(8).hex()}.part")
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), draft


READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""With ``O_NONBLOCK``, opening a FIFO returns at once instead of waiting for a writer."""

SYSTEM = ("/proc", "/sys", "/dev")
"""What is there is no file of a disk, whatever it looks like."""

_NAME_ONLY = getattr(os, "O_PATH", None)
_roots: tuple[str, ...] | None = None


def canonical(folder: str | Path) -> str:
    """A folder as it is compared, without links. Raises :class:`OSError` where there is none."""
    found = Path(folder).resolve(strict=True)
    if not found.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(folder))
    return str(found)


def roots() -> tuple[str, ...] | None:
    """The folders in force; ``None`` where all may be read that permissions allow."""
    return _roots


@contextmanager
def confined(folders: Sequence[str] | None) -> Iterator[None]:
    """Read files below ``folders`` only, which are :func:`canonical`; ``None`` changes nothing."""
    global _roots
    before = _roots
    _roots = before if folders is None else tuple(folders)
    try:
        yield
    finally:
        _roots = before


def open_file(path: Path) -> int:
    """A descriptor to read from. Raises :class:`PathDenied` and :class:`OSError`.

    What is no regular file may give one that can be asked for its kind only.
    """
    if _roots is None:
        return os.open(path, READ)
    with _judged(path) as handle:
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)
        # through /proc it is the same file, whatever its path names now
        return os.open(f"/proc/self/fd/{handle}", READ) if is_file else os.dup(handle)


def status(path: Path) -> os.stat_result:
    """What a file is. Raises :class:`PathDenied` and :class:`OSError`."""
    if _roots is None:
        return path.stat()
    with _judged(path) as handle:
        return os.fstat(handle)


def exists(path: Path) -> bool:
    """Whether there is something of this name that may be read."""
    try:
        status(path)
    except (OSError, ValueError, PathDenied):
        return False
    return True


def is_file(path: Path) -> bool:
    """Whether there is a regular file of this name that may be read."""
    try:
        return stat.S_ISREG(status(path).st_mode)
    except (OSError, ValueError, PathDenied):
        return False


@contextmanager
def _judged(path: Path) -> Iterator[int]:
    """A descriptor of what a path names, which opens nothing: no pipe, no device."""
    if _NAME_ONLY is None:
        raise PathDenied(f"{path.name}: this system cannot show the path of an open file")
    try:
        handle = os.open(path, _NAME_ONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and _is_below(os.path.realpath(path)):
            raise
        raise _denied(path) from None  # whether it is there is nobody's business
    try:
        if not _leads_below(handle):
            raise _denied(path)
        yield handle
    finally:
        os.close(handle)


def _leads_below(handle: int) -> bool:
    """Whether what is open stands below a root, by the name that the kernel has for it."""
    try:
        place = str(Path(f"/proc/self/fd/{handle}").readlink())
        return _is_below(place) and os.path.samestat(os.lstat(place), os.fstat(handle))
    except OSError:
        return False


def _is_below(place: str) -> bool:
    return any(_holds(root, place) for root in _roots or ())


def _holds(root: str, place: str) -> bool:
    inside = place == root or place.startswith(f"{root.rstrip('/')}/")
    return inside and all(_within(system, root) or not _within(system, place) for system in SYSTEM)


def _within(folder: str, place: str) -> bool:
    return place == folder or place.startswith(f"{folder}/")


def _denied(path: Path) -> PathDenied:
    return PathDenied(f"{path.name}: not below a folder that may be read")


FILE_NAME = "abistore.toml"


def project_file() -> Path | None:
    """The file of the current folder; ``None`` without one."""
    path = Path(FILE_NAME)
    return path if path.is_file() else None
