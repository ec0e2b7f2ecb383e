"""Which files the given headers are, and what each is called."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from abistore.confinement import is_file, open_file, status
from abistore.errors import HeaderError, LimitExceeded, PathDenied
from abistore.extract.headers.options import HeaderOptions
from abistore.model.words.counting import counted

SUFFIXES = (".h", ".hh", ".hpp", ".hxx", ".h++", ".H", ".hp", ".cuh")
"""Suffixes of files that are included by themselves. ``.inc``, ``.ipp``, ``.tcc`` and the like are parts of others."""

PARTS = (".inc", ".ipp", ".tcc", ".inl", ".tpp", ".txx", ".ixx", ".def", ".impl")

MOST_HEADERS, MOST_BYTES = 20_000, 64 << 20
_HEAD = 1 << 14
_COMMENTS = re.compile(rb"\s+|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_DIRECTIVE = re.compile(rb"#[ \t]*(?:include|ifndef|ifdef|if|pragma|define)\b")


class GivenHeader(msgspec.Struct, frozen=True):
    """A header that consumers include. ``name`` is relative to the folder that was given."""

    name: str
    path: Path
    size: int


class GivenFolder(msgspec.Struct, frozen=True):
    """A folder that was given, or the one that a given file lies in, which alone is public then.

    ``included`` tells that ``files`` were not given: a given header stands for them. ``linked`` tells that a link was
    given, which leads to the file from another folder or by another name.
    """

    path: Path
    prefix: str = ""
    files: frozenset[str] | None = None
    included: bool = False
    linked: bool = False


class GivenHeaders(msgspec.Struct, frozen=True):
    """All headers that were given; ``folders`` tell which other files are public where a header includes them."""

    headers: tuple[GivenHeader, ...]
    folders: tuple[GivenFolder, ...]
    private: tuple[str, ...]
    projects: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of all headers."""
        return sum(header.size for header in self.headers)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What was given, without the folders that it lies in: ``a.h`` for a header, ``include/`` for a folder."""
        found = set[str]()
        for folder in self.folders:
            if folder.included:
                continue
            found |= (
                {f"{folder.path.name}/"} if folder.files is None else {folder.prefix + each for each in folder.files}
            )
        return tuple(sorted(found))

    def name(self, path: str) -> str | None:
        """What a file is called that lies at ``path``, without links; ``None`` where it is not public."""
        for folder in self.folders:
            inside = path.removeprefix(f"{folder.path}/")
            if inside != path and (folder.files is None or inside in folder.files):
                is_public = not is_private(inside, self.private) and is_of(inside, self.projects)
                return folder.prefix + inside if is_public else None
        return None

    def beside(self, path: str, but: Collection[Path]) -> str | None:
        """What a file is called that lies in or below the folder of a header that was given by itself.

        ``None`` for any other, for one that a pattern hides, and for those of the folders ``but``.
        """
        for folder in self.folders:
            inside = path.removeprefix(f"{folder.path}/")
            if inside != path and folder.files is not None and folder.path not in but:
                hidden = is_private(inside, self.private) or not is_of(inside, self.projects)
                return None if hidden else folder.prefix + inside
        return None

    def inside(self, path: str) -> str | None:
        """What a file is called that lies in or below a folder of given headers, public or not."""
        folder = next((each for each in self.folders if path.startswith(f"{each.path}/")), None)
        return None if folder is None else folder.prefix + path.removeprefix(f"{folder.path}/")

    def surrounds(self, path: str, but: Collection[Path]) -> bool:
        """Whether a file lies in or below a folder of given headers, public or not; not so in those ``but``."""
        return any(path.startswith(f"{folder.path}/") for folder in self.folders if folder.path not in but)


def is_private(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern hides a header: ``detail/*`` and ``detail`` all below a folder, ``*_p.h`` in any folder."""
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern.rstrip('/')}/*") for pattern in patterns)


def is_of(name: str, projects: Sequence[str]) -> bool:
    """Whether a header is one of ``projects``, or in one; without any, each is."""
    return not projects or name in projects or name.partition("/")[0] in projects


def find_headers(options: HeaderOptions) -> GivenHeaders:
    """The headers that options name, sorted. Raises :class:`HeaderError` where there are none."""
    folders: list[GivenFolder] = []
    found: dict[Path, GivenHeader] = {}
    hidden = 0
    given = [_named(path) for path in options.headers]
    places = _places(folder for folder, _ in given)
    for folder, names in given:
        folder = msgspec.structs.replace(folder, prefix=_prefix(folder, folders, places))
        folders.append(folder)
        for name in names:
            if not is_of(name, options.projects):
                continue
            if is_private(name, options.private):
                hidden += 1
                continue
            path = folder.path / name
            found.setdefault(path, GivenHeader(folder.prefix + name, path, _size(path)))
            _check_extent(found)
    _check_any(options, found, hidden)
    headers = tuple(sorted(found.values(), key=lambda header: (header.name, header.path)))
    _check_size(headers)
    return GivenHeaders(headers, tuple(folders), options.private, options.projects)


def _named(given: Path) -> tuple[GivenFolder, Sequence[str]]:
    """The folder that a given path stands for, and the headers in it."""
    try:
        kind = status(given).st_mode
        path = given.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        raise HeaderError(f"{given}: no such header or folder", "check the path given with --header") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise HeaderError(f"{given}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(kind):
        return GivenFolder(path), _listed(path)
    if not stat.S_ISREG(kind):
        raise HeaderError(f"{given}: is neither a header nor a folder", "name the installed headers")
    linked = given.parent.resolve() / given.name != path
    return GivenFolder(path.parent, files=frozenset({path.name}), linked=linked), [path.name]


def _listed(folder: Path) -> Sequence[str]:
    try:
        return sorted(_walked(folder, folder, set()))
    except OSError as error:
        where = error.filename or folder
        raise HeaderError(f"{where}: cannot be read: {error.strerror}", "check its permissions") from None


def _places(folders: Iterable[GivenFolder]) -> Mapping[str, frozenset[Path]]:
    """The folders in which files lie that were given one by one, by the names of the files."""
    found: dict[str, set[Path]] = {}
    for folder in folders:
        for name in folder.files or ():
            found.setdefault(name, set()).add(folder.path)
    return {name: frozenset(paths) for name, paths in found.items()}


def _prefix(folder: GivenFolder, before: Sequence[GivenFolder], places: Mapping[str, frozenset[Path]]) -> str:
    """What tells the headers of a folder from those of the same names in others.

    Of ``geo-1.4/geo.h`` and ``geo-1.4/geo/geo.h`` the second one has it, ``geo/``: the folder that both lie in may be
    called after the release.
    """
    alike = frozenset[Path]().union(*(places[each] for each in folder.files or ()))
    if len(alike) > 1:
        inside = os.path.relpath(folder.path, os.path.commonpath(alike))
        return "" if inside == os.curdir else f"{inside}/"
    others = {each.path for each in before if each.files is None or folder.files is None or each.files & folder.files}
    return f"{folder.path.name}/" if others - {folder.path} else ""


def _walked(folder: Path, top: Path, seen: set[tuple[int, int]]) -> Iterator[str]:
    """The headers below a folder, relative to ``top``; a folder that links lead to twice is walked once."""
    state = status(folder)
    if (state.st_dev, state.st_ino) in seen:
        return
    seen.add((state.st_dev, state.st_ino))
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        try:
            mode = status(path).st_mode
        except (OSError, PathDenied):  # a link that leads nowhere, or out of the folders that may be read
            continue
        if stat.S_ISDIR(mode):
            yield from _walked(path, top, seen)
        elif stat.S_ISREG(mode) and _is_header(path):
            yield path.relative_to(top).as_posix()


def is_text_of_headers(path: Path) -> bool:
    """Whether a file is a header or a part of one, so that messages may quote it: no secret that somebody includes."""
    return path.suffix in PARTS or (is_file(path) and _is_header(path))


def _is_header(path: Path) -> bool:
    """Whether a file is included by itself: as its suffix says, or without one (``QString``) its first directive."""
    if path.suffix:
        return path.suffix in SUFFIXES
    descriptor = open_file(path)
    try:
        head = os.pread(descriptor, _HEAD, 0)
    finally:
        os.close(descriptor)
    position = 0
    while comment := _COMMENTS.match(head, position):
        position = comment.end()
    return _DIRECTIVE.match(head, position) is not None


def _size(path: Path) -> int:
    return status(path).st_size


def _check_extent(found: dict[Path, GivenHeader]) -> None:
    if len(found) > MOST_HEADERS:
        raise LimitExceeded(
            f"more than {MOST_HEADERS:,} headers were given", "name the folder that the library installs"
        )


def _check_size(headers: Sequence[GivenHeader]) -> None:
    size = sum(header.size for header in headers)
    if size > MOST_BYTES:
        largest = max(headers, key=lambda header: header.size)
        raise LimitExceeded(
            f"the headers have {size >> 20:,} MB, and {MOST_BYTES >> 20} MB are read at most; "
            f"{largest.name} has {largest.size >> 20:,} MB",
            "name the folder that the library installs, or leave out what is generated with --private-header",
        )


def _check_any(options: HeaderOptions, found: dict[Path, GivenHeader], hidden: int) -> None:
    if found:
        return
    given = ", ".join(map(str, options.headers))
    if hidden:
        patterns = ", ".join(options.private)
        raise HeaderError(
            f"{given}: --private-header {patterns} hides {counted(hidden, 'header')}, which is all there are",
            "give patterns that leave the public ones",
        )
    raise HeaderError(f"{given}: holds no header", f"headers end in {', '.join(SUFFIXES[:5])}, or begin with #include")
