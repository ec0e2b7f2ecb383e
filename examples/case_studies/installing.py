"""The shared libraries of one release, built and installed by the library's own CMake files."""

from __future__ import annotations

import shutil
from pathlib import Path

from examples.case_studies.case import Case, Release
from examples.case_studies.obtaining import unpacked
from examples.obtain import CACHE, require, run

PARALLEL = "2"
"""How many compilers run at once."""


def installed(case: Case, release: Release, line: str) -> Path:
    """The folder that a release is installed in, built once as distributions do: optimised, with debug information."""
    folder = CACHE / "cases" / case.name / line / release.version
    if not folder.exists():
        for package in case.lent:
            unpacked(case, package)
        work = folder.with_name("work")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(unpacked(case, release), work / "source")
        _install(case, line, work)
        (work / "installed").rename(folder)
        shutil.rmtree(work)
    return folder


def _filled(option: str) -> str:
    return option.format(sources=CACHE / "sources")


def _install(case: Case, line: str, work: Path) -> None:
    """Build ``work``, which is one place for all releases: a compiler's cache knows what they have in common."""
    cmake, made = require("cmake", "cmake"), work / "build"
    flags = " ".join(("-O2 -g -w", f"-ffile-prefix-map={work}=.", *(_filled(each) for each in case.flags)))
    told = {
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_CXX_COMPILER": require(case.lines[line], case.lines[line]),
        "CMAKE_C_FLAGS": flags,
        "CMAKE_CXX_FLAGS": flags,
        "CMAKE_INSTALL_PREFIX": work / "installed",
        "CMAKE_SKIP_INSTALL_RPATH": "ON",  # it would name this folder
        "BUILD_SHARED_LIBS": "ON",
    }
    options = [f"-D{each}" for each in (*(f"{key}={value}" for key, value in told.items()), *map(_filled, case.cmake))]
    run([cmake, "-S", work / "source", "-B", made, *options], work)
    run([cmake, "--build", made, "--parallel", PARALLEL, "--target", "install"], work)
