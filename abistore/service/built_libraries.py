"""The shared libraries that a project has built, and the files that its build systems install."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from abistore.errors import InputError, LimitExceeded
from abistore.extract.elf.container import DT_SONAME, MAGIC, DynamicSection, ElfFile
from abistore.extract.files import InputFile
from abistore.extract.packages.libraries import is_binary, other_than_library
from abistore.model.labels import library_name

OTHERS = frozenset(
    {
        *("third_party", "third-party", "thirdparty", "3rdparty", "external", "externals", "extern", "vendor", "deps"),
        *("_deps", "subprojects", "vcpkg_installed", "node_modules", "site-packages", "venv", "CMakeFiles", "Testing"),
    }
)
"""Folders of other projects, and of build systems themselves."""

TESTS = frozenset({"test", "tests", "testing", "examples", "example", "benchmarks", "benchmark", "bench", "fuzz"})
"""Folders whose libraries are for tests, unless they are installed."""

MOST_FILES = 200_000
MOST_BYTES = 1 << 22
NAME = re.compile(r".+\.(?:so(?:\.[\w.]+)?|dll|dylib)", re.IGNORECASE)

_CMAKE = re.compile(
    r'file\(INSTALL DESTINATION "([^"]*)" TYPE (\w+)([^"]*(?:RENAME "[^"]*")?[^"]*?)FILES((?:\s+"[^"]+")+)'
)
_LIBTOOL = re.compile(r"^(\w+)='?([^'\n]*)'?$", re.MULTILINE)
_INCLUDE = re.compile(r"(?:^|/)(?:include|\{includedir\})(?:/|$)")


class BuiltLibrary(msgspec.Struct, frozen=True):
    """A library that a project has built. ``path`` is relative to the project's folder where it lies below it.

    ``installed_by`` names the build system that installs it; it is empty where none is known to.
    """

    name: str
    path: str
    soname: str = ""
    installed_by: str = ""
    debug_information: bool = True


class InstalledFile(NamedTuple):
    """A file or folder that a build system installs. ``place`` is its path below the include folder."""

    path: Path
    place: str
    by: str


class BuildTree(NamedTuple):
    """What the folders of a project show: their files, and what its build systems record.

    ``libraries`` are installed files that are libraries, ``modules`` those that are plugins.
    """

    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    libraries: dict[Path, str]
    modules: frozenset[Path]
    headers: tuple[InstalledFile, ...]


def build_tree(folders: Sequence[Path]) -> BuildTree:
    """Look through folders, but for those of other projects. Raises :class:`LimitExceeded`."""
    files = tuple(each for folder in folders for each in _files(folder))
    libraries: dict[Path, str] = {}
    modules: set[Path] = set()
    headers: list[InstalledFile] = []
    for path in files:
        if path.name == "cmake_install.cmake":
            _read_cmake(path, libraries, modules, headers)
        elif path.name == "intro-install_plan.json":
            _read_meson(path, libraries, headers)
        elif path.suffix == ".la":
            _read_libtool(path, libraries, modules)
    return BuildTree(tuple(folders), files, libraries, frozenset(modules), tuple(headers))


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for place, below, names in os.walk(folder):
        below[:] = sorted(each for each in below if each not in OTHERS and _is_looked_at(each))
        count += len(names)
        if count > MOST_FILES:
            raise LimitExceeded(f"{folder}: has more than {MOST_FILES:,} files", "name the folder of one project")
        yield from (Path(place, name) for name in sorted(names) if name.isprintable())


def _is_looked_at(folder: str) -> bool:
    return folder.isprintable() and (not folder.startswith(".") or folder == ".libs")


def _read_cmake(path: Path, libraries: dict[Path, str], modules: set[Path], headers: list[InstalledFile]) -> None:
    """What CMake's install script installs; its paths are absolute."""
    for destination, kind, _, listed in _CMAKE.findall(text_of(path)):
        for name in re.findall(r'"([^"]+)"', listed):
            if kind == "SHARED_LIBRARY":
                libraries[Path(name).resolve()] = "CMake"
            elif kind == "MODULE":
                modules.add(Path(name).resolve())
            elif kind in ("FILE", "DIRECTORY") and _INCLUDE.search(destination):
                base = "" if name.endswith("/") else Path(name).name
                headers.append(InstalledFile(Path(name).resolve(), _below(f"{destination}/{base}"), "CMake"))


class _Planned(msgspec.Struct):
    """A file in Meson's plan of an installation."""

    destination: str = ""


def _read_meson(path: Path, libraries: dict[Path, str], headers: list[InstalledFile]) -> None:
    """What Meson's plan of an installation has; nothing where it is damaged."""
    try:
        plan = msgspec.json.decode(text_of(path), type=dict[str, dict[str, _Planned]])
    except msgspec.MsgspecError:
        return
    for kind, listed in plan.items():
        for name, planned in listed.items():
            is_library = planned.destination.startswith(("{libdir_shared}", "{bindir}")) and NAME.fullmatch(name)
            if kind == "targets" and is_library:
                libraries[Path(name).resolve()] = "Meson"
            elif _INCLUDE.search(planned.destination):
                headers.append(InstalledFile(Path(name).resolve(), _below(planned.destination), "Meson"))


def _read_libtool(path: Path, libraries: dict[Path, str], modules: set[Path]) -> None:
    """What a libtool archive says about the library in ``.libs`` beside it."""
    said = dict(_LIBTOOL.findall(text_of(path)))
    for name in said.get("library_names", "").split():
        built = (path.parent / ".libs" / name).resolve()
        if said.get("shouldnotlink") == "yes":
            modules.add(built)
        elif said.get("libdir"):
            libraries[built] = "libtool"


def _below(destination: str) -> str:
    """A destination from the include folder on: ``foo/bar.h`` of ``${CMAKE_INSTALL_PREFIX}/include/foo/bar.h``."""
    return _INCLUDE.split(destination, maxsplit=1)[-1].strip("/")


def text_of(path: Path) -> str:
    """The beginning of a text file; nothing where it cannot be read."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""


def built_libraries(tree: BuildTree, root: Path) -> tuple[BuiltLibrary, ...]:
    """Each built library once: of several builds the one that is installed, has debug information, and is newest."""
    candidates: dict[str, list[tuple[tuple[bool, bool, float], BuiltLibrary]]] = {}
    for path in tree.files:
        if NAME.fullmatch(path.name) and not path.is_symlink() and (found := _library(path, tree, root)):
            order = (bool(found.installed_by), found.debug_information, path.stat().st_mtime)
            candidates.setdefault(found.name, []).append((order, found))
    best = [max(each, key=lambda one: one[0])[1] for _, each in sorted(candidates.items())]
    installed = tuple(each for each in best if each.installed_by)
    return installed or tuple(best)


def _library(path: Path, tree: BuildTree, root: Path) -> BuiltLibrary | None:
    """The library at ``path``; ``None`` for a plugin, a library of tests, or another file."""
    real = path.resolve()
    by = tree.libraries.get(real, "")
    within = next(path.relative_to(each) for each in tree.folders if path.is_relative_to(each))
    if real in tree.modules or (not by and TESTS & set(within.parts)):
        return None
    try:
        with InputFile(path) as file:
            if not is_binary(file.head) or other_than_library(str(path), file):
                return None
            soname, debug = _facts(file)
    except InputError:
        return None
    name = library_name(soname or path.name)
    return BuiltLibrary(name, shown(_stable_name(path, name), root), soname, by, debug)


def _facts(file: InputFile) -> tuple[str, bool]:
    """The SONAME, and whether there is debug information; of other formats than ELF neither is looked at."""
    if not file.head.startswith(MAGIC):
        return "", True
    elf = ElfFile(file)
    dynamic = DynamicSection.of(elf)
    soname = dynamic.text(DT_SONAME) if dynamic is not None else None
    return soname or "", any(each.name in (".debug_info", ".zdebug_info", ".gnu_debuglink") for each in elf.sections)


def _stable_name(path: Path, name: str) -> Path:
    """The link that the next version will have, too: ``libfoo.so`` beside ``libfoo.so.1.2.3``."""
    link = path.with_name(f"{name}.so")
    return link if link.is_symlink() and link.resolve() == path.resolve() else path


def shown(path: Path, root: Path) -> str:
    """A path as the project's file has it: relative to the project's folder, if it lies below it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
