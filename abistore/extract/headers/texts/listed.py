"""Which headers lie beside those that were given one by one, so that another release tells which are gone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from abistore.confinement import is_file, status
from abistore.errors import PathDenied
from abistore.extract.headers.given import SUFFIXES, GivenFolder, GivenHeaders
from abistore.model.snapshot import HeaderFolder

MOST_LISTED = 1_000
"""How many entries a folder may have, so that it is listed: ``/usr/include`` holds the headers of all libraries."""


def listed_folders(given: GivenHeaders) -> tuple[HeaderFolder, ...]:
    """The folders of headers that were given one by one, sorted; without those that are not or cannot be listed.

    A folder from which a link leads elsewhere is left out: what lies beside the link is not what lies beside the file.
    """
    places: dict[Path, list[GivenFolder]] = {}
    for folder in given.folders:
        if folder.files is not None and not folder.included:
            places.setdefault(folder.path, []).append(folder)
    return tuple(sorted(found for path, folders in places.items() if (found := _listed(path, folders))))


def _listed(path: Path, folders: list[GivenFolder]) -> HeaderFolder | None:
    """What one folder holds; ``folders`` stand for the headers that were given of it."""
    lying = None if any(folder.linked for folder in folders) else _headers_in(path)
    if lying is None:
        return None
    named = {name: folder.prefix for folder in folders for name in folder.files or ()}
    given = sorted(prefix + name for name, prefix in named.items() if name in lying)
    prefix = max(named.values(), key=len)
    return HeaderFolder(tuple(given), tuple(sorted(prefix + name for name in lying - named.keys()))) if given else None


def _headers_in(folder: Path) -> frozenset[str] | None:
    """The names of the headers in a folder, but not below it; ``None`` where it is too large or cannot be read."""
    try:
        status(folder)
        paths = list(islice(folder.iterdir(), MOST_LISTED + 1))
    except (OSError, PathDenied):
        return None
    return frozenset(_names(paths)) if len(paths) <= MOST_LISTED else None


def _names(paths: list[Path]) -> Iterator[str]:
    """The headers among paths; no link that leads nowhere, or out of the folders that may be read."""
    for path in paths:
        if path.suffix in SUFFIXES and not path.name.startswith(".") and is_file(path):
            yield path.name
