"""Development packages: the headers of a package's libraries, and how they are read."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from abistore.errors import LimitExceeded
from abistore.extract.debuginfod import own_folder, remove_left
from abistore.extract.headers.given import PARTS, SUFFIXES
from abistore.extract.packages.libraries import Entry, is_binary, libraries_to_link
from abistore.extract.packages.streams import PackageIdentity
from abistore.extract.reader import FacetReading, HeaderOptions
from abistore.files import exists
from abistore.model.declarations import EXPORTS, NOT_EXPORTED, Declared, Name
from abistore.model.names.microsoft import qualified_name
from abistore.model.names.symbols import c_name, is_of_standard_library, mangled_scope, plain_path
from abistore.model.shapes import Function, HeadersMode, Symbol
from abistore.model.snapshot import (
    HEADERS_OF_OTHERS,
    NO_HEADERS_IN_PACKAGE,
    NOT_FOR_THIS_LIBRARY,
    Evidence,
    HeadersRead,
    Snapshot,
    Variants,
)
from abistore.model.structure import references
from abistore.model.words import counted, is_decorated

MOST_OTHERS: Final = 3
"""How many headers the evidence names."""


def without_others(reading: FacetReading, exports: Collection[Name], words: Set[str]) -> FacetReading:
    """The reading of a package for several libraries without what belongs to others than the one with ``exports``.

    ``words`` has one of each header that declares an export. What is declared stays with a library where its own
    headers include it, or its declarations use it.
    """
    read = reading.headers
    if read is None or not (reading.evidence.declares_all or _parsed_own(reading, read, exports, words)):
        return reading
    others = headers_of_others(reading, exports, {each.file: each.includes for each in read.outlines})
    if not others:
        return reading
    left = _left_out(reading, others)
    names = sorted(others)
    more = f" and {len(names) - MOST_OTHERS} more" if len(names) > MOST_OTHERS else ""
    detail = (
        f"{counted(len(names), 'header')} of other libraries of the package: {', '.join(names[:MOST_OTHERS])}{more}"
    )
    evidence = reading.evidence
    if evidence.state == "full":
        evidence = msgspec.structs.replace(evidence, reason=HEADERS_OF_OTHERS, detail=detail)
    return msgspec.structs.replace(
        reading,
        evidence=evidence,
        entries={name: shapes for name, shapes in reading.entries.items() if name not in left},
        locations={name: place for name, place in reading.locations.items() if name not in left},
        headers=_without(read, left, tuple(names)),
    )


def _parsed_own(reading: FacetReading, read: HeadersRead, exports: Collection[Name], words: Set[str]) -> bool:
    if all(name in reading.entries for name in exports):
        return True
    return bool(read.set_aside) and read.aside is not None and words.isdisjoint(read.aside)


def headers_of_others(
    reading: FacetReading, exports: Collection[Name], includes: Mapping[str, Iterable[str]]
) -> frozenset[str]:
    """The headers of functions and variables that this library does not export, and what only these lead to or use.

    A header without any, which none of these includes and that includes none of them, may be of every library.
    """
    own, foreign, files = set[str](), set[str](), set[str]()
    for name, place in reading.locations.items():
        files.add(place.file)
        if name in exports:
            own.add(place.file)
        elif _needs_export(name, reading.entries.get(name, ())):
            foreign.add(place.file)
    foreign -= own
    if not own or not foreign:
        return frozenset()
    behind = {file: _reached(file, includes) for file in files.union(includes, own, foreign)}
    kept = set[str]().union(*(behind[file] for file in own))
    of_foreign = set[str]().union(*(behind[file] for file in foreign))
    for file in behind.keys() - kept - foreign:
        if not behind[file].isdisjoint(own) or (file not in of_foreign and behind[file].isdisjoint(foreign)):
            kept |= behind[file]
    return frozenset(behind.keys() - kept)


def _needs_export(name: Name, shapes: Variants) -> bool:
    """Whether programs can use a function or variable only where a library exports it."""
    if name.kind not in EXPORTS:
        return False
    traits = [trait for shape in shapes if isinstance(shape, Declared) for trait in shape.traits]
    methods = (shape.method for shape in shapes if isinstance(shape, Function) and shape.method is not None)
    left_out = any(each.deleted or each.virtual == "pure" or each.access == "private" for each in methods)
    return not left_out and NOT_EXPORTED.isdisjoint(traits)


def _reached(file: str, includes: Mapping[str, Iterable[str]]) -> Set[str]:
    found, pending = {file}, [file]
    while pending:
        more = set(includes.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return found


def _left_out(reading: FacetReading, others: Set[str]) -> Set[Name]:
    """What stands in headers of others and nothing of the library uses."""
    left = {name for name, place in reading.locations.items() if place.file in others}
    pending = [name for name in reading.entries if name in reading.locations and name not in left]
    seen = set(pending)
    while pending:
        name = pending.pop()
        used = {each for shape in reading.entries.get(name, ()) for each, _ in references(shape, name)} - seen
        seen |= used
        pending += used
    return left - seen


def _without(read: HeadersRead, left: Set[Name], others: tuple[str, ...]) -> HeadersRead:
    modes = (
        HeadersMode(each.name, tuple(entry for entry in each.entries if entry.name not in left), each.failure)
        for each in read.modes
    )
    return msgspec.structs.replace(
        read, others=others, modes=tuple(each for each in modes if each.entries or each.failure)
    )


MOST_CONFIG = 1 << 16
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_REQUIRED = re.compile(r"(?<![\w.+<>=!-])(?<!= )(?<!> )(?<!< )[A-Za-z][\w.+-]*")
_MOST_NESTED = 20


class PkgConfig(msgspec.Struct, frozen=True):
    """One ``.pc`` file; ``folders`` are absolute, as in the package's own file tree.

    ``requires`` are the names of those of which programs need the flags, too.
    """

    name: str = ""
    libraries: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    requires: frozenset[str] = frozenset()


def is_pkg_config(path: str) -> bool:
    """Whether a file of a package is one."""
    return path.endswith(".pc") and "/pkgconfig/" in f"/{path}"


def read_pkg_config(path: str, data: bytes) -> PkgConfig:
    """What the ``.pc`` file at ``path`` of a package says."""
    said = dict(_said(path, data.decode("utf-8", "replace")))
    flags = _words(said.get("Cflags:", said.get("CFlags:", "")))
    required = (said.get(field, "") for field in ("Requires:", "Requires.private:"))
    return PkgConfig(
        module_name(path),
        frozenset(f"lib{each[2:]}" for each in _words(said.get("Libs:", "")) if each.startswith("-l")),
        tuple(posixpath.normpath(each) for each in _values(flags, "-I", "-isystem") if each.startswith("/")),
        tuple(_values(flags, "-D")),
        frozenset(_REQUIRED.findall(" ".join(required))),
    )


def module_name(path: str) -> str:
    """What a ``.pc`` file is called by others."""
    return posixpath.basename(path).removesuffix(".pc")


def _said(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The fields, each with a colon at its end. Variables may stand for others that are set before."""
    variables = {"pcfiledir": f"/{posixpath.dirname(path)}"}
    for line in text.replace("\\\n", " ").splitlines():
        if match := re.fullmatch(r"\s*([\w.]+)\s*([=:])\s*(.*?)\s*", line.partition("#")[0]):
            name, sign, value = match.groups()
            value = _spelled_out(value, variables)
            if sign == "=":
                variables[name] = value
            else:
                yield f"{name}:", value


def _spelled_out(text: str, variables: dict[str, str]) -> str:
    for _ in range(_MOST_NESTED):
        replaced = _VARIABLE.sub(lambda match: variables.get(match[1], ""), text)
        if replaced == text or len(replaced) > MOST_CONFIG:
            break
        text = replaced
    return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that nothing closes
        return text.split()


def _values(words: list[str], *options: str) -> Iterator[str]:
    """What follows one of ``options``, in the same word or in the next one."""
    rest = iter(words)
    for word in rest:
        for option in options:
            if word.startswith(option) and (value := word.removeprefix(option) or next(rest, "")):
                yield value


_INCLUDED = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)


def folders_named(roots: Sequence[Path], known: Sequence[Path]) -> tuple[Path, ...]:
    """The folders below ``roots`` in which headers lie that others of these name, and that no ``known`` one has.

    Of several folders that have a header, the one that is nearest to the header which names it.
    """
    files = [file for root in roots for file in _files(root)]
    places: dict[str, list[Path]] = {}
    for file in files:
        places.setdefault(file.name, []).append(file)
    found: dict[Path, None] = {}
    for file in files:
        for name in _names(file):
            searched = (*known, *found)
            if not any((folder / name).is_file() for folder in searched):
                found.update(dict.fromkeys(_nearest(file, name, places)))
    return tuple(found)


def _files(root: Path) -> Iterator[Path]:
    return (each for each in sorted(root.rglob("*")) if each.is_file())


def _names(file: Path) -> Iterator[str]:
    """What a header includes, but for what lies beside it and is meant by that."""
    with file.open("rb") as opened:
        text = opened.read(_MOST_TEXT)
    for sign, name in dict.fromkeys(_INCLUDED.findall(text)):
        spelled = os.fsdecode(name)
        is_beside = sign == b'"' and (file.parent / spelled).is_file()
        if not is_beside and not spelled.startswith("/") and ".." not in spelled.split("/"):
            yield spelled


def _nearest(file: Path, name: str, places: Mapping[str, Iterable[Path]]) -> Iterator[Path]:
    """The folder from which ``name`` leads to a header."""
    end = f"/{name}"
    fitting = [each for each in places.get(name.rpartition("/")[2], ()) if str(each).endswith(end)]
    if fitting:
        best = max(fitting, key=lambda each: (len(os.path.commonpath((file, each))), -len(each.parts), str(each)))
        yield best.parents[name.count("/")]


MOST_WHOLE = 200
"""A package of no more headers is read whole: one that nothing includes may have constants of the library."""

_WORD = re.compile(r"[^\W\d]\w*")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_BEFORE = re.compile(r"[^\w]|_|$")
_MOST_TEXT = 1 << 20
_DEEPEST = 8
"""How many folders of a header's path an ``#include`` is taken to name."""


def words_of(snapshot: Snapshot) -> frozenset[str]:
    """What a header must mention that declares an export: its C name, or the namespaces and classes around it.

    Weak exports are of inline functions, which may be another project's; they count where there are no others.
    """
    own, weak = set[str](), set[str]()
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        if name.kind in ("function", "variable") and not is_of_standard_library(name.spelling):
            is_weak = all(isinstance(each, Symbol) and each.weak for each in shapes)
            (weak if is_weak else own).update(_words_around(name.spelling))
    return frozenset((own or weak) - {""})


def _words_around(symbol: str) -> Iterator[str]:
    if is_decorated(symbol):
        yield qualified_name(symbol).partition("::")[0].partition("<")[0]
        return
    yield mangled_scope(symbol)[0] or c_name(symbol)
    yield from plain_path(symbol)[1:-1]


class HeaderProjects:
    """The headers below one ``include`` folder, by project: a folder in it, or headers that begin with one word.

    So it is in ``shared`` folders below it, which have the folders of several projects: ``qt6`` with ``QtCore``.
    """

    def __init__(self, root: Path, shared: Collection[Path] = ()) -> None:
        self.root = root
        self._files: dict[str, list[Path]] = {}
        self._names: dict[str, list[str]] = {}
        for each in _entries(root, shared):
            name = each.relative_to(root).as_posix()
            project = name if each.is_dir() else f"{each.parent}/{_BEFORE.split(each.name, maxsplit=1)[0]}*"
            self._files.setdefault(project, []).extend(sorted(_files_below(each)))
            self._names.setdefault(project, []).append(name)
        self.count = sum(map(len, self._files.values()))
        self._words: dict[str, frozenset[str]] = {}
        self._included: dict[str, frozenset[str]] = {}
        self._places: dict[str, set[str]] = {}

    def of(self, words: frozenset[str] | None) -> tuple[str, ...]:
        """Where ``words`` are mentioned, and what is included there: folders and headers. Without words, all."""
        found = set(self._files) if words is None else set(self._mentioning(words))
        pending = list(found) if words is not None else []
        while pending:
            new = self._included[pending.pop()] - found
            found |= new
            pending += new
        return tuple(sorted(name for each in found for name in self._names[each]))

    def _mentioning(self, words: frozenset[str]) -> Iterator[str]:
        """For each word the project that mentions it; of several, the one that mentions the most words."""
        self._read()
        left = set(words)
        for project in sorted(self._files, key=lambda each: (-len(words & self._words[each]), each)):
            if left & self._words[project]:
                left -= self._words[project]
                yield project

    def _read(self) -> None:
        """Read every header once, for all libraries."""
        if self._words:
            return
        for project, files in self._files.items():
            for file in files:
                for end in _ends(file.relative_to(self.root)):
                    self._places.setdefault(end, set()).add(project)
        for project, files in self._files.items():
            words, included = set[str](), set[str]()
            for file in files:
                text = _text(file)
                words.update(_WORD.findall(text))
                included.update(self._projects_of(file, set(_INCLUDE.findall(text))))
            self._words[project], self._included[project] = frozenset(words), frozenset(included)

    def _projects_of(self, file: Path, names: set[str]) -> Iterator[str]:
        """The projects that a header may include by ``names``; one that is beside it is meant first."""
        for name in names:
            if not (file.parent / name).is_file():
                yield from self._places.get(name, ())


def _entries(folder: Path, shared: Collection[Path]) -> Iterator[Path]:
    for each in sorted(folder.iterdir()):
        if each in shared:
            yield from _entries(each, shared)
        else:
            yield each


def _files_below(path: Path) -> Iterator[Path]:
    return (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else iter((path,))


def _ends(path: Path) -> Iterator[str]:
    parts: Sequence[str] = path.parts[-_DEEPEST:]
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_TEXT).decode(errors="replace")


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
    """Copy the headers of ``entries`` into ``folder``, also those that links in include folders lead to.

    A package may have none. Raises :class:`LimitExceeded`.
    """
    roots, held, configs, links = set[str](), list[frozenset[str]](), list[PkgConfig](), dict[str, str]()
    size, count = 0, 0
    for entry in entries:
        held.append(frozenset(libraries_to_link(entry)))
        root = _root(entry.path)
        if root is not None and entry.link:
            links[entry.path] = entry.link
        if entry.keep is not None and is_pkg_config(entry.path):
            with entry.keep() as file:
                configs.append(read_pkg_config(entry.path, file.read_at(0, min(file.size, MOST_CONFIG))))
        if entry.keep is None or is_binary(entry.head) or (root is None and not _may_be_linked(entry.path)):
            continue
        with entry.keep() as file:
            size, count = size + file.size, count + 1
            if size > MOST_BYTES or count > MOST_FILES:
                raise LimitExceeded(
                    f"{package}: its headers have more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files"
                )
            _write(folder / entry.path, file.read_at(0, file.size))
        roots.update(filter(None, [root]))
    roots.update(_lay_links(folder, links))
    found = tuple(folder / root for root in sorted(roots))
    linked = frozenset[str]().union(*held, *(each.libraries for each in configs))
    include_dirs = _include_dirs(folder, found, configs)
    shared = {each for each in include_dirs if _is_shared(each, include_dirs)}
    projects = tuple(HeaderProjects(root, shared) for root in found)
    named = folders_named(found, include_dirs)
    each_held = tuple(filter(None, held))
    return DevelopmentFiles(found, include_dirs, named, linked, each_held, projects, tuple(configs))


def _include_dirs(folder: Path, roots: Sequence[Path], configs: Iterable[PkgConfig]) -> tuple[Path, ...]:
    """The folders that are searched, in the compiler's order: those that ``.pc`` files name, then the system's.

    A package that is no installed one, such as an archive, may have other folders around its include folder.
    """
    told = [place for config in configs for each in config.folders for place in _placed(each, folder, roots)]
    below = [each for root in roots for each in sorted(root.iterdir()) if MULTIARCH.fullmatch(each.name)]
    return tuple(dict.fromkeys((*told, *roots, *(each for each in below if each.is_dir()))))


def _is_shared(folder: Path, include_dirs: Sequence[Path]) -> bool:
    """Whether an include folder has those of several projects in it."""
    return MULTIARCH.fullmatch(folder.name) is not None or any(folder in each.parents for each in include_dirs)


def _placed(name: str, folder: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Where a folder that a ``.pc`` file names was laid out."""
    _, include, inside = f"{name}/".partition(f"/{INCLUDE}/")
    places = (folder / name[1:], *(root / inside for root in roots if include))
    return (each for each in places if each.is_dir() and each.resolve().is_relative_to(folder.resolve()))


def _root(path: str) -> str | None:
    parts = path.split("/")[:-1]
    return "/".join(parts[: parts.index(INCLUDE) + 1]) if INCLUDE in parts else None


def _may_be_linked(path: str) -> bool:
    """Whether a file outside of include folders is a header or a part of one, to which a link in one may lead."""
    return path.endswith((*SUFFIXES, *PARTS))


def _lay_links(folder: Path, links: Mapping[str, str]) -> Iterator[str]:
    """Lay out what links in include folders lead to within the package: the include folders with any.

    Headers from elsewhere get the place of the first link to them, where they belong to the include folder.
    """
    for link, target in sorted(links.items(), key=lambda each: (each[0].count("/"), each[0])):
        place = folder / link
        if exists(place) or not exists(folder / target) or any(map(Path.is_file, place.parents)):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place, real = place.parent.resolve() / place.name, (folder / target).resolve()
        if place.is_relative_to(real) or not real.is_relative_to(folder.resolve()):
            continue
        if _root(f"{real.relative_to(folder.resolve())}/") is not None:
            place.symlink_to(real)
        else:
            real.rename(place)
            real.symlink_to(place)
        root = _root(link)
        if root is not None:
            yield root


def through_links(paths: Iterable[str], links: Mapping[str, str]) -> Iterator[str]:
    """By what other paths files are reached, through one link to a file or to a folder around it."""
    places: dict[str, list[str]] = {}
    for link, target in links.items():
        places.setdefault(target, []).append(link)
    for path in paths:
        for around in (path, *map(str, PurePosixPath(path).parents)):
            yield from (link + path.removeprefix(around) for link in places.get(around, ()))


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
        lent_dirs=tuple(dict.fromkeys(root for each in _lent(own, packages, beside) for root in each.roots)),
        defines=tuple(dict.fromkeys(define for each in with_headers for define in each.defines(library))),
        projects=projects or (),
    )


def _own(library: str, packages: Sequence[DevelopmentFiles], beside: LibraryPackage) -> list[DevelopmentFiles]:
    """The packages that a library's headers are in.

    They link to it. Where one links to no library of the package that it needs in its own version, it is for all of
    them: Debian's ``libnss3-dev`` has a link for an archive alone. Headers that come without anything to link to are
    the library's where such a package needs them in its own version, or none has headers of its own. Beside packages
    of the library's own sources, those of other sources are not.
    """
    own = [each for each in packages if each.links(library) or _needs(each, beside)]
    near = [each for each in packages if not _is_foreign(each, beside)] or packages
    loose = [each for each in near if not each.libraries and each not in own]
    if any(each.roots for each in own):
        needed = frozenset[str]().union(*(each.identity.built_with for each in own))
        loose = [each for each in loose if each.identity.name in needed]
    return [each for each in packages if each in own or each in loose]


def _is_foreign(package: DevelopmentFiles, beside: LibraryPackage) -> bool:
    """Whether a package and a library are built from different sources, as far as both tell."""
    sources = {package.identity.source, beside.identity.source}
    return len(sources) > 1 and "" not in sources


def _lent(
    own: Sequence[DevelopmentFiles], packages: Sequence[DevelopmentFiles], beside: LibraryPackage
) -> Iterator[DevelopmentFiles]:
    """The packages that are built from other sources than a library and its headers, as far as all of them tell."""
    sources = {each.identity.source for each in own} | {beside.identity.source}
    if "" not in sources:
        yield from (each for each in packages if each.identity.source and each.identity.source not in sources)


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
