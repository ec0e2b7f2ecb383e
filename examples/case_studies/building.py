"""The shared libraries of one release, compiled for one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examples.case_studies.case import Case, Release, Shared
from examples.case_studies.installing import installed
from examples.case_studies.obtaining import unpacked
from examples.obtain import CACHE, PROJECT, require, run

GENERATED = PROJECT / "examples" / "generated"
"""Headers that a library's own build would write."""


def built(case: Case, release: Release, line: str) -> Path:
    """The folder with the shared libraries of a release, built once with debug information.

    How it was optimised is part of its name, so that one build is never taken for the other.
    """
    if case.cmake:
        return installed(case, release, line) / "lib"
    folder = CACHE / "cases" / case.name / f"{line}{case.optimised}" / release.version
    folder.mkdir(parents=True, exist_ok=True)
    root = unpacked(case, release)
    for library in case.libraries:
        if not (folder / library.name).exists() and _files(library, root):
            _link(case, release, library, line, folder / library.name)
    return folder


def headers(case: Case, release: Release, folder: Path) -> list[str]:
    """The public headers of a release built in ``folder``; behind the library that has them for its own."""
    root = _root(case, release)
    built = [each for each in case.libraries if (folder / each.name).exists()]
    own = {each.name.removesuffix(".so"): each.headers for each in built if each.headers}
    shared = [str(path) for path in _matching(root, case.headers)]
    return shared + [f"{name}={path}" for name, patterns in own.items() for path in _matching(root, patterns)]


def _matching(root: Path, patterns: Sequence[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def include(case: Case, release: Release) -> list[Path]:
    """The folders in which headers are found; those of this release that there are, and the generated ones."""
    root = _root(case, release)
    folders = [root / each for each in case.include] + [GENERATED / case.name]
    return [each for each in folders if each.is_dir()]


def _root(case: Case, release: Release) -> Path:
    """Where a release's headers lie: as installed where CMake installs it, which writes some; else in its source."""
    return installed(case, release, next(iter(case.lines))) if case.cmake else unpacked(case, release)


def _link(case: Case, release: Release, library: Shared, line: str, made: Path) -> None:
    root, compiler = unpacked(case, release), case.lines[line]
    stem = library.name.removesuffix(".so")
    soname = f"{stem}.so{release.soname}"
    found = [f"-I{folder}" for folder in include(case, release)]
    flags = [each.format(version=release.version, folder=made.parent) for each in (*case.flags, *library.flags)]
    partial = made.with_suffix(".partial")
    command = [
        require(compiler, compiler),
        "-shared",
        "-fPIC",
        "-g",
        case.optimised,
        "-w",
        f"-ffile-prefix-map={root}=.",
        f"-Wl,-soname,{soname}",
        *found,
    ]
    run([*command, *_files(library, root), *flags, "-o", partial], root)
    partial.replace(made)


def _files(library: Shared, root: Path) -> list[Path]:
    """The sources relative to ``root``, so that no folder of this machine goes into the debug information's names."""
    unwanted = {path for pattern in library.unwanted for path in root.glob(pattern)}
    found = {path for pattern in library.sources for path in root.glob(pattern)} - unwanted
    return sorted(path.relative_to(root) for path in found)
