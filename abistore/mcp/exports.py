"""Where a server may write files: new ones, below one folder, reached without symbolic links."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path, PurePosixPath
from secrets import token_hex

from abistore.mcp.refusals import Refusal
from abistore.mcp.settings import Settings

SUFFIX = ".json"

SYSTEM = tuple(
    PurePosixPath(folder)
    for folder in (
        "/etc",
        "/bin",
        "/sbin",
        "/lib",
        "/usr/bin",
        "/usr/sbin",
        "/usr/lib",
        "/boot",
        "/sys",
        "/proc",
        "/dev",
    )
)
"""Folders in which nothing is written, whatever the export root is."""

CREDENTIALS = frozenset({".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc"})
"""Names below which people keep keys; ``.config/gh`` too."""

_PLACE = "name a new .json file below the export root of the server"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def check_export(settings: Settings, text: str) -> tuple[Path, tuple[str, ...]]:
    """The export root, and the parts of a path below it. Nothing is touched. Raises :class:`Refusal`."""
    path = PurePosixPath(text)
    if not path.is_absolute() or "\0" in text:
        raise Refusal("INVALID_ARGUMENT", "output_path is a relative path", "give an absolute path")
    if path.suffix != SUFFIX:
        raise Refusal("INVALID_ARGUMENT", f"output_path must have a .json extension, got: {path.suffix!r}", _PLACE)
    given = settings.export_root or ""
    root = Path(given).resolve()
    parts = _below(path, (PurePosixPath(given), PurePosixPath(root)))
    place = PurePosixPath(root, *parts)
    if _is_kept_from(place):
        raise Refusal("PATH_DENIED", "output_path is in a folder of the system, or of keys", _PLACE)
    return root, parts


def _below(path: PurePosixPath, roots: tuple[PurePosixPath, ...]) -> tuple[str, ...]:
    """The parts of a path below one of the ways to write the export root."""
    for root in roots:
        if path.is_relative_to(root):
            parts = path.relative_to(root).parts
            if parts and ".." not in parts:
                return parts
    raise Refusal("PATH_DENIED", "output_path is not below the export root", _PLACE)


def _is_kept_from(place: PurePosixPath) -> bool:
    parts = place.parts
    keys = CREDENTIALS.intersection(parts) or (".config", "gh") in pairwise(parts)
    return bool(keys) or any(place.is_relative_to(folder) for folder in SYSTEM)


def write_new(settings: Settings, text: str, data: bytes) -> None:
    """Write a file that is not there yet, all or nothing. Raises :class:`Refusal`."""
    root, parts = check_export(settings, text)
    try:
        folder = _opened(root, parts[:-1])
        try:
            _write(folder, parts[-1], data)
        finally:
            os.close(folder)
    except OSError as error:
        raise _denied(error) from None


def _opened(root: Path, folders: tuple[str, ...]) -> int:
    """The folder of a file, reached from the root step by step, so that no link can be put in the way."""
    found = os.open(root, _OPEN_FOLDER)
    for name in folders:
        try:
            inner = os.open(name, _OPEN_FOLDER, dir_fd=found)
        finally:
            os.close(found)
        found = inner
    return found


def _write(folder: int, name: str, data: bytes) -> None:
    """Under another name first: a process that is killed meanwhile leaves no half of a dump."""
    draft = f".abistore-{token_hex(8)}.part"
    with os.fdopen(os.open(draft, _CREATE, 0o644, dir_fd=folder), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.link(draft, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)


def _denied(error: OSError) -> Refusal:
    why = {
        errno.EEXIST: "exists already: nothing is overwritten",
        errno.ENOENT: "is in a folder that does not exist",
        errno.ELOOP: "leads through a symbolic link",
        errno.ENOTDIR: "leads through a symbolic link, or a file",
        errno.ENOSPC: "cannot be written: no space is left",
    }.get(error.errno or 0, "cannot be written")
    return Refusal("PATH_DENIED", f"output_path {why}", _PLACE)
