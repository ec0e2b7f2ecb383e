"""The texts of headers, which must not change meanwhile, and which of them stand for others."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from abistore.errors import HeaderError, PathDenied
from abistore.extract.headers.given import SUFFIXES, GivenFolder, GivenHeader, GivenHeaders, is_private
from abistore.extract.headers.precompiled import StandardRecord
from abistore.files import READ, is_file, open_file, status
from abistore.model.snapshot import HeaderFolder
from abistore.patterns import pattern

MOST_TEXT: Final = 1 << 20
"""How much of a header is looked at to tell its language."""

CLOCK: Final = 20_000_000
"""Nanoseconds by which the times of files may stand behind the clock: kernels stamp them by ticks."""

HINT: Final = "read them again once their build or installation has ended"


class ReadTexts:
    """The texts of headers, by path. Headers are read several times; :meth:`check` tells whether that was all one."""

    def __init__(self) -> None:
        self.standard: StandardRecord | None = None
        """Headers of the C++ library that were parsed before, and gone on from."""
        self._texts: dict[str, bytes] = {}
        self._differing: dict[str, None] = {}
        self._began = time.time_ns() - CLOCK

    def beginning(self, path: Path) -> str:
        """The beginning of a header. Raises :class:`HeaderError`."""
        try:
            with os.fdopen(open_file(path), "rb") as file:
                text = file.read(MOST_TEXT)
        except OSError as error:
            raise HeaderError(f"{path}: cannot be read: {error.strerror}", "check its permissions") from None
        self.note(str(path), text)
        return text.decode(errors="replace")

    def beginning_if_readable(self, path: Path) -> str:
        """That of a header that another includes: libclang says what is wrong with one that cannot be read."""
        try:
            return self.beginning(path)
        except (HeaderError, PathDenied):
            return ""

    def note(self, path: str, text: bytes) -> None:
        """Remember what a reading of a file, or of its beginning, had."""
        known = self._texts.get(path)
        if known is None or _agree(known, text):
            self._texts[path] = text if known is None or len(text) > len(known) else known
        else:
            self._differing[path] = None

    def check(self, folders: Iterable[Path]) -> None:
        """Raise :class:`HeaderError` where a file had two texts, or has another one now, or one came in its place.

        ``folders`` are searched for headers, in this order. Messages name a file from the one that it is below.
        """
        folders = tuple(folders)
        changed = next(iter(self._differing), None) or next(
            (path for path, text in self._texts.items() if not _agree(text, _now(path, len(text)))), None
        )
        if changed is not None:
            raise HeaderError(f"{_called(changed, folders)}: was changed while the headers were read", HINT)
        if came := self._came(folders):
            raise HeaderError(f"{_called(came, folders)}: came while the headers were read", HINT)
        if self.standard is not None and not self.standard.is_current():
            raise HeaderError("the headers of the C++ library were changed while the headers were read", HINT)

    def _came(self, folders: Sequence[Path]) -> str | None:
        """A file that came since, and that an earlier folder would have given in place of one that was read."""
        searched = [os.path.realpath(folder).rstrip("/") + "/" for folder in folders]
        for real in map(os.path.realpath, self._texts if len(searched) > 1 else ()):
            for number, folder in enumerate(searched):
                name = real.removeprefix(folder)
                for other in (before + name for before in searched[:number] if name != real):
                    if other not in self._texts and _changed(other) >= self._began:
                        return other
        return None


def check_listed(before: GivenHeaders, after: GivenHeaders) -> None:
    """Raise :class:`HeaderError` where the given paths lead to other headers than they did."""
    was, now = ({each.name: each.path for each in given.headers} for given in (before, after))
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            what = "came" if name not in was else "went" if name not in now else "got another path"
            raise HeaderError(f"{name}: {what} while the headers were read", HINT)


def _agree(one: bytes, other: bytes | None) -> bool:
    """Whether two readings are of the same text: one of them may be its beginning."""
    if other is None:
        return False
    short, long = sorted((one, other), key=len)
    return long.startswith(short) if len(short) == MOST_TEXT else short == long


def _now(path: str, expected: int) -> bytes | None:
    """What a file holds, as far as it matters beside ``expected`` bytes; ``None`` where it is none any more."""
    with suppress(OSError, ValueError):
        descriptor = os.open(path, READ)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(max(expected, MOST_TEXT) + 1)
    return None


def _changed(path: str) -> int:
    """When a file came or was changed, in nanoseconds; 0 where there is none."""
    try:
        return Path(path).stat().st_ctime_ns
    except (OSError, ValueError):
        return 0


def _called(path: str, folders: Iterable[Path]) -> str:
    real = Path(os.path.realpath(path))
    for folder in map(Path, map(os.path.realpath, folders)):
        if real.is_relative_to(folder) and real != folder:
            return real.relative_to(folder).as_posix()
    return Path(path).name


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
