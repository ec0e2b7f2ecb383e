"""Development packages: the headers of a package's libraries, laid out in a folder that is removed afterwards."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from abistore.errors import HeaderError, LimitExceeded
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.own_folders import own_folder, remove_left
from abistore.extract.packages.entries import Entry
from abistore.extract.packages.libraries import is_binary, library_to_link
from abistore.extract.packages.own_headers import MOST_WHOLE, HeaderProjects, words_of
from abistore.model.snapshot import Snapshot

INCLUDE = "include"
MULTIARCH = re.compile(r"[a-z0-9_]+-[a-z0-9_-]*(?:linux|gnu|musl)[a-z0-9_]*")
"""A folder of ``/usr/include`` that compilers search too: ``x86_64-linux-gnu``."""

MOST_BYTES, MOST_FILES = 256 << 20, 50_000
"""What headers of one package may take on disk."""

_REBUILD = re.compile(r"\+b\d+$")
_PREFIX = "abistore-headers-"


class DevelopmentFiles(msgspec.Struct, frozen=True):
    """The headers of one development package; ``libraries`` are those that programs link to with it.

    ``name`` and ``version`` are what the package says of itself.
    """

    roots: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    libraries: frozenset[str]
    projects: tuple[HeaderProjects, ...] = ()
    name: str = ""
    version: str = ""

    def is_of(self, library: str, version: str) -> bool:
        """Whether the headers are of the same build as ``library`` in a package of ``version``, as far as it tells.

        A package that has nothing to link to may be of another project. Debian's rebuilds (``+b1``) change no header.
        """
        if not (self.libraries and self.has(library) and self.version and version):
            return True
        return _REBUILD.sub("", self.version) == _REBUILD.sub("", version)

    @property
    def is_small(self) -> bool:
        """Whether all headers are read for any library."""
        return sum(each.count for each in self.projects) <= MOST_WHOLE

    def own(self, words: frozenset[str]) -> tuple[str, ...]:
        """The projects of a library whose exports are called by ``words``: all of a small package."""
        return tuple(name for each in self.projects for name in each.of(None if self.is_small else words))

    def has(self, library: str) -> bool:
        """Whether programs link to a library with it; a package that has nothing to link to is for all."""
        return not self.libraries or _unprefixed(library) in map(_unprefixed, self.libraries)


@contextmanager
def header_folder() -> Iterator[Path]:
    """A folder that is removed at the end. One that a killed process left behind is removed by the next call."""
    within = Path(tempfile.gettempdir())
    remove_left(within, _PREFIX)
    with own_folder(within, _PREFIX) as folder:
        yield folder


def lay_out(entries: Iterable[Entry], folder: Path, package: str) -> DevelopmentFiles:
    """Copy the headers of ``entries`` into ``folder``. Raises :class:`HeaderError` where there are none."""
    roots, libraries, size, count = set[str](), set[str](), 0, 0
    for entry in entries:
        if library := library_to_link(entry.path.rpartition("/")[2]):
            libraries.add(library)
        root = _root(entry.path)
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
    if not roots:
        raise HeaderError(f"{package}: has no headers", "name the package that has the library's include folder")
    found = tuple(folder / root for root in sorted(roots))
    below = (each for root in found for each in sorted(root.iterdir()) if MULTIARCH.fullmatch(each.name))
    include_dirs = (*found, *(each for each in below if each.is_dir()))
    return DevelopmentFiles(found, include_dirs, frozenset(libraries), tuple(map(HeaderProjects, found)))


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


def headers_for(snapshot: Snapshot, packages: Sequence[DevelopmentFiles]) -> HeaderOptions | None:
    """The headers of one library: of the packages that programs link to it with, or that have nothing to link to.

    The other packages are searched for what these include.
    """
    own = [each for each in packages if each.has(snapshot.library)]
    if not own:
        return None
    projects = _projects(own, snapshot)
    if projects is not None and not projects:
        return None
    return HeaderOptions(
        headers=tuple(root for each in own for root in each.roots),
        include_dirs=tuple(dict.fromkeys(folder for each in (*own, *packages) for folder in each.include_dirs)),
        projects=projects or (),
    )


def _projects(packages: Sequence[DevelopmentFiles], snapshot: Snapshot) -> tuple[str, ...] | None:
    """The folders and headers that are a library's own; ``None`` where all of small packages are."""
    if all(each.is_small for each in packages):
        return None
    words = words_of(snapshot)
    return tuple(sorted({name for each in packages for name in each.own(words)}))
