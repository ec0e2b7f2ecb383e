"""A header that declares nothing, given by itself, stands for what it includes: ``foo.h`` for those of ``foo/``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from abistore.confinement import status
from abistore.extract.headers.given import GivenFolder, GivenHeader, GivenHeaders, is_private


def widened(given: GivenHeaders, declaring: Collection[str], included: Iterable[tuple[str, str]]) -> GivenHeaders:
    """The given headers, with those that stand behind them.

    ``declaring`` are the names of headers that declare something, ``included`` pairs of a file and the one that
    includes it, without links, outermost first. Only what lies in the header's own folder or below it is the library's.
    """
    known = {header.path for header in given.headers}
    headers, folders = list(given.headers), list(given.folders)
    standing = _standing_for_others(given, declaring)
    for path, folder in _behind(standing, included) if standing else ():
        name = path.relative_to(folder.path).as_posix()
        if path not in known and not is_private(name, given.private):
            known.add(path)
            headers.append(GivenHeader(folder.prefix + name, path, status(path).st_size))
            folders.append(replace(folder, files=frozenset({name}), included=True))
    ordered = sorted(headers, key=lambda header: (header.name, header.path))
    return replace(given, headers=tuple(ordered), folders=tuple(folders))


def _standing_for_others(given: GivenHeaders, declaring: Collection[str]) -> Mapping[Path, GivenFolder]:
    """The headers that were given by themselves and declare nothing, with their folders."""
    return {
        folder.path / name: folder
        for folder in given.folders
        for name in folder.files or ()
        if folder.prefix + name not in declaring
    }


def _behind(
    standing: Mapping[Path, GivenFolder], included: Iterable[tuple[str, str]]
) -> Iterator[tuple[Path, GivenFolder]]:
    """The files that these headers include, directly or not, as far as they lie below their folders."""
    owners = {str(path): folder for path, folder in standing.items()}
    for file, by in included:
        folder = owners.get(by)
        if folder is not None and file.startswith(f"{folder.path}/"):
            owners.setdefault(file, folder)
            yield Path(file), folder
