"""Development packages: the headers of a package's libraries, laid out in a folder that is removed afterwards."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from abistore.errors import LimitExceeded
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.own_folders import own_folder, remove_left
from abistore.extract.packages.entries import Entry
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.packages.libraries import is_binary, libraries_to_link
from abistore.extract.packages.own_headers import MOST_WHOLE, HeaderProjects, words_of
from abistore.extract.packages.pkg_config import MOST_BYTES as MOST_CONFIG
from abistore.extract.packages.pkg_config import PkgConfig, is_pkg_config, read_pkg_config
from abistore.extract.packages.search_folders import folders_named
from abistore.model.snapshot import NO_HEADERS_IN_PACKAGE, NOT_FOR_THIS_LIBRARY, Evidence, Snapshot

INCLUDE = "include"
MULTIARCH = re.compile(r"[a-z0-9_]+-[a-z0-9_-]*(?:linux|gnu|musl)[a-z0-9_]*")
"""A folder of ``/usr/include`` that compilers search too: ``x86_64-linux-gnu``."""

MOST_BYTES, MOST_FILES = 256 << 20, 50_000
"""What headers of one package may take on disk."""

MOST_NAMED = 3
"""How many libraries and packages the evidence names."""

_REBUILD = re.compile(r"\+b\d+$")
_PREFIX = "abistore-headers-"


class DevelopmentFiles(msgspec.Struct, frozen=True):
    """The headers of one development package; ``libraries`` are those that programs link to with it.

    ``include_dirs`` are searched as programs search them, ``named_dirs`` are folders by which its headers name others.
    ``held`` are the names of each file to link to: a library may have several.
    ``configs`` are its ``.pc`` files. ``identity`` is what the
    package says of itself.
    """

    roots: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    named_dirs: tuple[Path, ...]
    libraries: frozenset[str]
    held: tuple[frozenset[str], ...] = ()
    projects: tuple[HeaderProjects, ...] = ()
    configs: tuple[PkgConfig, ...] = ()
    identity: PackageIdentity = PackageIdentity()
    file: str = ""

    def is_of(self, library: str, version: str) -> bool:
        """Whether the headers are of the same build as ``library`` in a package of ``version``, as far as it tells.

        A package that has nothing to link to may be of another project. Debian's rebuilds (``+b1``) change no header.
        """
        if not (self.links(library) and self.identity.version and version):
            return True
        return _REBUILD.sub("", self.identity.version) == _REBUILD.sub("", version)

    @property
    def is_small(self) -> bool:
        """Whether all headers are read for any library."""
        return sum(each.count for each in self.projects) <= MOST_WHOLE

    def own(self, words: frozenset[str]) -> tuple[str, ...]:
        """The projects of a library whose exports are called by ``words``: all of a small package."""
        return tuple(name for each in self.projects for name in each.of(None if self.is_small else words))

    def links(self, library: str) -> bool:
        """Whether programs link to a library with it."""
        return _unprefixed(library) in map(_unprefixed, self.libraries)

    def defines(self, library: str) -> tuple[str, ...]:
        """The macros of programs that use a library: what its ``.pc`` files say, or the only one."""
        own = [each for each in self.configs if _unprefixed(library) in map(_unprefixed, each.libraries)]
        return tuple(define for each in own or self.configs[: len(self.configs) == 1] for define in each.defines)


@contextmanager
def header_folder() -> Iterator[Path]:
    """A folder that is removed at the end. One that a killed process left behind is removed by the next call."""
    within = Path(tempfile.gettempdir())
    remove_left(within, _PREFIX)
    with own_folder(within, _PREFIX) as folder:
        yield folder


def lay_out(entries: Iterable[Entry], folder: Path, package: str) -> DevelopmentFiles:
    """Copy the headers of ``entries`` into ``folder``; a package may have none. Raises :class:`LimitExceeded`."""
    roots, held, configs, size, count = set[str](), list[frozenset[str]](), list[PkgConfig](), 0, 0
    for entry in entries:
        held.append(frozenset(libraries_to_link(entry)))
        root = _root(entry.path)
        if entry.keep is not None and is_pkg_config(entry.path):
            with entry.keep() as file:
                configs.append(read_pkg_config(entry.path, file.read_at(0, min(file.size, MOST_CONFIG))))
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
    found = tuple(folder / root for root in sorted(roots))
    linked = frozenset[str]().union(*held, *(each.libraries for each in configs))
    include_dirs = _include_dirs(folder, found, configs)
    projects, named = tuple(map(HeaderProjects, found)), folders_named(found, include_dirs)
    each_held = tuple(filter(None, held))
    return DevelopmentFiles(found, include_dirs, named, linked, each_held, projects, tuple(configs))


def _include_dirs(folder: Path, roots: Sequence[Path], configs: Iterable[PkgConfig]) -> tuple[Path, ...]:
    """The folders that are searched, in the compiler's order: those that ``.pc`` files name, then the system's.

    A package that is no installed one, such as an archive, may have other folders around its include folder.
    """
    told = [place for config in configs for each in config.folders for place in _placed(each, folder, roots)]
    below = [each for root in roots for each in sorted(root.iterdir()) if MULTIARCH.fullmatch(each.name)]
    return tuple(dict.fromkeys((*told, *roots, *(each for each in below if each.is_dir()))))


def _placed(name: str, folder: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Where a folder that a ``.pc`` file names was laid out."""
    _, include, inside = f"{name}/".partition(f"/{INCLUDE}/")
    places = (folder / name[1:], *(root / inside for root in roots if include))
    return (each for each in places if each.is_dir() and each.resolve().is_relative_to(folder.resolve()))


def _root(path: str) -> str | None:
    """The include folder that a path is in."""
    parts = path.split("/")[:-1]
    return "/".join(parts[: parts.index(INCLUDE) + 1]) if INCLUDE in parts else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _unprefixed(library: str) -> str:
    """``foo`` of ``libfoo``: programs link to ``foo.dll`` with ``libfoo.dll.a``, and to ``libfoo.dll`` with either."""
    return library.removeprefix("lib").casefold()


class LibraryPackage(msgspec.Struct, frozen=True):
    """The package that libraries come from: what it says of itself, and all that it holds."""

    identity: PackageIdentity = PackageIdentity()
    libraries: frozenset[str] = frozenset()


def headers_for(
    snapshot: Snapshot, packages: Sequence[DevelopmentFiles], beside: LibraryPackage
) -> HeaderOptions | Evidence:
    """The headers of one library, of the packages that are for it; where there are none, the evidence says why.

    The other packages are searched for what these include.
    """
    library, own = snapshot.library, _own(snapshot.library, packages, beside)
    with_headers = [each for each in own if each.roots]
    if not own:
        linked = sorted(frozenset().union(*(each.libraries for each in packages)))
        detail = f"{_named(packages)}: for {_first(linked)}, and not for {library}"
        return _missing(NOT_FOR_THIS_LIBRARY, detail)
    if not with_headers:
        return _missing(NO_HEADERS_IN_PACKAGE, f"{_named(own)}: no headers")
    projects = _projects(with_headers, snapshot)
    if projects is not None and not projects:
        return _missing(NOT_FOR_THIS_LIBRARY, f"{_named(own)}: no header names an export of {library}")
    return HeaderOptions(
        headers=tuple(root for each in with_headers for root in each.roots),
        include_dirs=tuple(dict.fromkeys(folder for each in (*own, *packages) for folder in each.include_dirs)),
        named_dirs=tuple(dict.fromkeys(folder for each in (*own, *packages) for folder in each.named_dirs)),
        defines=tuple(dict.fromkeys(define for each in with_headers for define in each.defines(library))),
        projects=projects or (),
    )


def _own(library: str, packages: Sequence[DevelopmentFiles], beside: LibraryPackage) -> list[DevelopmentFiles]:
    """The packages that a library's headers are in.

    They link to it. Where one links to no library of the package that it needs in its own version, it is for all of
    them: Debian's ``libnss3-dev`` has a link for an archive alone. Headers that come without anything to link to are
    the library's where such a package needs them in its own version, or none has headers of its own.
    """
    own = [each for each in packages if each.links(library) or _needs(each, beside)]
    loose = [each for each in packages if not each.libraries and each not in own]
    if any(each.roots for each in own):
        needed = frozenset[str]().union(*(each.identity.built_with for each in own))
        loose = [each for each in loose if each.identity.name in needed]
    return [each for each in packages if each in own or each in loose]


def is_for_several(library: str, packages: Sequence[DevelopmentFiles], beside: LibraryPackage) -> bool:
    """Whether the packages of a library's headers are those of other libraries, too."""
    held = [each for package in _own(library, packages, beside) for each in package.held]
    same, rest = frozenset({_unprefixed(library)}), [frozenset(map(_unprefixed, each)) for each in held]
    while joined := [each for each in rest if not same.isdisjoint(each)]:
        same = same.union(*joined)
        rest = [each for each in rest if same.isdisjoint(each)]
    return bool(rest)


def _needs(package: DevelopmentFiles, beside: LibraryPackage) -> bool:
    if beside.identity.name not in package.identity.built_with:
        return False
    return not any(map(package.links, beside.libraries))


def _missing(reason: str, detail: str) -> Evidence:
    hint = "give the development package that has the library's headers with --devel-package, or them with --header"
    return Evidence("source", "missing", reason, detail, hint)


def _named(packages: Sequence[DevelopmentFiles]) -> str:
    return _first([each.file for each in packages])


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _projects(packages: Sequence[DevelopmentFiles], snapshot: Snapshot) -> tuple[str, ...] | None:
    """The folders and headers that are a library's own; ``None`` where all of small packages are."""
    if all(each.is_small for each in packages):
        return None
    words = words_of(snapshot)
    return tuple(sorted({name for each in packages for name in each.own(words)}))
