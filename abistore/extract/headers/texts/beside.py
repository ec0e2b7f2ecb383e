"""Which headers lie beside those that were given one by one: one that went is neither given nor there."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from abistore.confinement import status
from abistore.errors import PathDenied
from abistore.extract.headers.given import SUFFIXES, GivenHeaders
from abistore.model.snapshot import HeadersTogether

MOST: Final = 500
"""More headers are in a folder like ``/usr/include``, of many libraries: what lies there is not kept."""


def together(given: GivenHeaders) -> tuple[HeadersTogether, ...]:
    """The folders of headers that were given one by one, with the headers that lie beside them, sorted.

    A folder is left out that cannot be listed, or holds more than :data:`MOST` headers.
    """
    files: dict[tuple[Path, str], set[str]] = {}
    for folder in given.folders:
        if folder.files is not None and not folder.included:
            files.setdefault((folder.path, folder.prefix), set()).update(folder.files)
    found = (_of_folder(path, prefix, names) for (path, prefix), names in files.items())
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.given))


def _of_folder(path: Path, prefix: str, names: Collection[str]) -> HeadersTogether | None:
    try:
        every = list(_headers(path))
    except (OSError, PathDenied):
        return None
    if len(every) > MOST:
        return None
    beside = (each for each in every if each not in names)
    return HeadersTogether(*(tuple(sorted(prefix + each for each in some)) for some in (names, beside)))


def _headers(folder: Path) -> Iterator[str]:
    """The names of the headers directly in a folder, as far as suffixes tell."""
    for path in folder.iterdir():
        if path.suffix in SUFFIXES and _is_file(path):
            yield path.name


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(status(path).st_mode)
    except (OSError, PathDenied):  # a link that leads nowhere, or out of the folders that may be read
        return False
