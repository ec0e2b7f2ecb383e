"""A header without functions and variables, given by itself, stands for what it includes: ``foo.h`` for ``foo/``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from msgspec.structs import replace

from abistore.confinement import status
from abistore.extract.headers.given import GivenFolder, GivenHeader, GivenHeaders, is_private
from abistore.patterns import pattern

_NO_CODE = pattern(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[ \t]*#(?:\\\r?\n|[^\n])*", re.DOTALL | re.MULTILINE)
"""Comments and directives."""


def widened(
    given: GivenHeaders,
    declaring: Mapping[str, bool],
    included: Sequence[tuple[str, str]],
    linking: Callable[[], Set[str]],
    read: Callable[[Path], str],
) -> GivenHeaders:
    """The given headers, with those that stand behind them.

    ``declaring`` are the names of headers that declare anything, each with whether these are functions or variables,
    ``linking`` gives the paths of all files that declare such, and ``included`` are pairs of a file and the one that
    includes it, without links, outermost first; ``read`` gives the text of one. Only what lies in the header's own
    folder or below it is the library's.
    """
    known = {header.path for header in given.headers}
    headers, folders = list(given.headers), list(given.folders)
    standing = _standing_for_others(given, declaring, included, linking, read)
    for path, folder in _behind(standing, included) if standing else ():
        name = path.relative_to(folder.path).as_posix()
        if path not in known and not is_private(name, given.private):
            known.add(path)
            headers.append(GivenHeader(folder.prefix + name, path, status(path).st_size))
            folders.append(replace(folder, files=frozenset({name}), included=True))
    ordered = sorted(headers, key=lambda header: (header.name, header.path))
    return replace(given, headers=tuple(ordered), folders=tuple(folders))


def _standing_for_others(
    given: GivenHeaders,
    declaring: Mapping[str, bool],
    included: Sequence[tuple[str, str]],
    linking: Callable[[], Set[str]],
    read: Callable[[Path], str],
) -> Mapping[Path, GivenFolder]:
    """The headers that were given by themselves and declare no function or variable, with their folders.

    Where other given headers do, one with types stands for itself unless a file that it includes declares functions: an
    umbrella may have a few types beside its includes, and a header of types may include a configuration. So does one
    that would declare something if a macro were defined.
    """
    named = {
        folder.path / name: (folder, folder.prefix + name) for folder in given.folders for name in folder.files or ()
    }
    silent = {path: folder for path, (folder, name) in named.items() if not declaring.get(name)}
    if not any(declaring.values()):
        return silent
    typed = {path: folder for path, folder in silent.items() if named[path][1] in declaring}
    behind = {path: {str(file) for file, _ in _behind({path: folder}, included)} for path, folder in typed.items()}
    linked = linking() if any(behind.values()) else frozenset()
    return {
        path: folder
        for path, folder in silent.items()
        if (not linked.isdisjoint(behind[path]) if path in typed else ";" not in _NO_CODE.sub("", read(path)))
    }


def _behind(
    standing: Mapping[Path, GivenFolder], included: Sequence[tuple[str, str]]
) -> Iterator[tuple[Path, GivenFolder]]:
    """The files that these headers include, directly or not, as far as they lie below their folders."""
    owners = {str(path): folder for path, folder in standing.items()}
    for file, by in included:
        folder = owners.get(by)
        if folder is not None and file.startswith(f"{folder.path}/"):
            owners.setdefault(file, folder)
            yield Path(file), folder
