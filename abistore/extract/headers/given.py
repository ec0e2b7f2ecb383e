"""The given headers: which files they are, and which other files count as public because these include them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from abistore.errors import HeaderError, LimitExceeded, PathDenied
from abistore.extract.reader import HeaderOptions
from abistore.files import is_file, open_file, status
from abistore.model.snapshot import HeaderFolder
from abistore.model.words import counted
from abistore.patterns import pattern

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
    """A given folder, or the folder of a given file, where only ``files`` are public.

    ``included``: the files were not given but found through an umbrella header. ``linked``: a file was reached through
    a symlink from another folder or name.
    """

    path: Path
    prefix: str = ""
    files: frozenset[str] | None = None
    included: bool = False
    linked: bool = False


class GivenHeaders(msgspec.Struct, frozen=True):
    """All given headers; files in ``folders`` are public too where a header includes them.

    ``linked`` are the names of those to which links in a given folder lead out of it, by their paths.
    """

    headers: tuple[GivenHeader, ...]
    folders: tuple[GivenFolder, ...]
    private: tuple[str, ...]
    projects: tuple[str, ...] = ()
    linked: Mapping[str, str] = {}

    @property
    def size(self) -> int:
        """The bytes of all headers."""
        return sum(header.size for header in self.headers)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The given names without the path before them: ``a.h`` for a header, ``include/`` for a folder."""
        found = set[str]()
        for folder in self.folders:
            if folder.included:
                continue
            found |= (
                {f"{folder.path.name}/"} if folder.files is None else {folder.prefix + each for each in folder.files}
            )
        return tuple(sorted(found))

    def name(self, path: str) -> str | None:
        """The name of the public header at ``path`` (without links); ``None`` for any other."""
        for folder in self.folders:
            inside = path.removeprefix(f"{folder.path}/")
            if inside != path and (folder.files is None or inside in folder.files):
                is_public = not is_private(inside, self.private) and is_of(inside, self.projects)
                return folder.prefix + inside if is_public else None
        return self.linked.get(path)

    def beside(self, path: str, but: Collection[Path]) -> str | None:
        """The name of a file in or below the folder of a header that was given by itself.

        ``None`` for any other, for one that a pattern hides, and for those of the folders ``but``.
        """
        for folder in self.folders:
            inside = path.removeprefix(f"{folder.path}/")
            if inside != path and folder.files is not None and folder.path not in but:
                hidden = is_private(inside, self.private) or not is_of(inside, self.projects)
                return None if hidden else folder.prefix + inside
        return None

    def inside(self, path: str) -> str | None:
        """The name of a file in or below a folder of given headers, public or not."""
        folder = next((each for each in self.folders if path.startswith(f"{each.path}/")), None)
        return None if folder is None else folder.prefix + path.removeprefix(f"{folder.path}/")

    def surrounds(self, path: str, but: Collection[Path]) -> bool:
        """Whether a file is in or below a folder of given headers, public or not, other than those ``but``."""
        return any(path.startswith(f"{folder.path}/") for folder in self.folders if folder.path not in but)


def is_private(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern hides a header: ``detail/*`` and ``detail`` all below a folder, ``*_p.h`` in any folder."""
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern.rstrip('/')}/*") for pattern in patterns)


def is_of(name: str, projects: Sequence[str]) -> bool:
    """Whether a header is one of ``projects``, or in one; without any, each is."""
    return not projects or any(name == each or name.startswith(f"{each}/") for each in projects)


def check_folders(options: HeaderOptions) -> None:
    """Raise :class:`HeaderError` for an include folder or system root that cannot be read."""
    for folder in (*options.include_dirs, *options.named_dirs, *filter(None, [options.sysroot])):
        try:
            status(folder / ".")
        except OSError as error:
            raise HeaderError(f"{folder}: not a readable folder: {error.strerror}", "check the path") from None


def find_headers(options: HeaderOptions) -> GivenHeaders:
    """The headers that options name, sorted. Raises :class:`HeaderError` where there are none."""
    folders: list[GivenFolder] = []
    found: dict[Path, GivenHeader] = {}
    linked: dict[str, str] = {}
    hidden, without_links = 0, lru_cache(None)(Path.resolve)
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
            if (path.is_symlink() or without_links(path.parent) != path.parent) and _leads_out(path, folder.path):
                path = path.resolve()
                linked.setdefault(str(path), folder.prefix + name)
            found.setdefault(path, GivenHeader(folder.prefix + name, path, _size(path)))
            _check_extent(found)
    _check_any(options, found, hidden)
    headers = tuple(sorted(found.values(), key=lambda header: (header.name, header.path)))
    _check_size(headers)
    return GivenHeaders(headers, tuple(folders), options.private, options.projects, linked)


def _leads_out(path: Path, folder: Path) -> bool:
    return not path.resolve().is_relative_to(folder)


def _named(given: Path) -> tuple[GivenFolder, Sequence[str]]:
    """The folder of a given path, and its headers."""
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
    found: dict[str, set[Path]] = {}
    for folder in folders:
        for name in folder.files or ():
            found.setdefault(name, set()).add(folder.path)
    return {name: frozenset(paths) for name, paths in found.items()}


def _prefix(folder: GivenFolder, before: Sequence[GivenFolder], places: Mapping[str, frozenset[Path]]) -> str:
    """The prefix that distinguishes headers of one folder from those of the same names in others.

    Of ``geo-1.4/geo.h`` and ``geo-1.4/geo/geo.h`` the second gets ``geo/``: the common folder may be named after the
    release.
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
    """Whether a file is a header or a part of one, so that messages may quote it without leaking a secret."""
    return path.suffix in PARTS or (is_file(path) and _is_header(path))


def _is_header(path: Path) -> bool:
    """Whether programs include a file by name: by its suffix, or by its first directive (``QString``)."""
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
            f"the headers have {size >> 20:,} MB, more than the limit of {MOST_BYTES >> 20} MB; {largest.name} "
            f"has {largest.size >> 20:,} MB",
            "pass the folder that the library installs, or exclude generated headers with --private-header",
        )


def _check_any(options: HeaderOptions, found: dict[Path, GivenHeader], hidden: int) -> None:
    if found:
        return
    given = ", ".join(map(str, options.headers))
    if hidden:
        patterns = ", ".join(options.private)
        raise HeaderError(
            f"{given}: --private-header {patterns} excludes all {counted(hidden, 'header')}",
            "pass patterns that match only private headers",
        )
    raise HeaderError(
        f"{given}: contains no header", f"headers have the suffix {', '.join(SUFFIXES[:5])}, or begin with #include"
    )


MOST_LISTED = 1_000
"""How many entries a folder may have, so that it is listed: ``/usr/include`` holds the headers of all libraries."""


def listed_folders(given: GivenHeaders) -> tuple[HeaderFolder, ...]:
    """The folders of headers that were given one by one, sorted; without those that cannot be listed.

    A folder with a link to elsewhere is left out: neighbours of the link are not neighbours of the file.
    """
    places: dict[Path, list[GivenFolder]] = {}
    for folder in given.folders:
        if folder.files is not None and not folder.included:
            places.setdefault(folder.path, []).append(folder)
    return tuple(sorted(found for path, folders in places.items() if (found := _listed_folder(path, folders))))


def _listed_folder(path: Path, folders: list[GivenFolder]) -> HeaderFolder | None:
    """The content of one folder; ``folders`` are its given headers."""
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
    return frozenset(_headers_among(paths)) if len(paths) <= MOST_LISTED else None


def _headers_among(paths: list[Path]) -> Iterator[str]:
    """The headers among paths, without links that lead nowhere or out of the folders that may be read."""
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
    """The given headers, with the headers that given umbrella headers include.

    ``declaring`` are the headers with any declaration, each with whether it has functions or variables. ``linking``
    gives the paths of all files that declare such. ``included`` are pairs of a file and its includer, without links,
    outermost first; ``read`` gives a text. Only files in or below the header's own folder are the library's.
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
    """The umbrella headers: given one by one, without functions or variables; with their folders.

    If other given headers have functions, a header with types is an umbrella only where an included file declares
    functions: an umbrella may have a few types beside its includes, a header of types may include a configuration. A
    header that would declare something if a macro were defined is no umbrella.
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
    owners = {str(path): folder for path, folder in standing.items()}
    for file, by in included:
        folder = owners.get(by)
        if folder is not None and file.startswith(f"{folder.path}/"):
            owners.setdefault(file, folder)
            yield Path(file), folder
