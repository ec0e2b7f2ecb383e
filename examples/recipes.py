"""How the example libraries are built: which release comes in which package, and the compiler's command line."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from examples.obtain import CACHE, require, run, source


@dataclass(frozen=True)
class Recipe:
    """One library. ``releases`` are (the library's version, the version of the package that carries its sources).

    ``sources`` and ``unwanted`` are globs below the folder ``root`` of the unpacked package; ``also`` are pairs of a
    version and a further glob of sources that it needs. ``flags`` are what the library's own build files add to
    ``-shared -fPIC -g -O2``. ``remark`` is what a reader must know about the versions. ``released`` are pairs of a
    version and the day on which the sdist that carries it was made: the time of its ``PKG-INFO``, in UTC. Most
    packages of npm have no times.
    """

    library: str
    soname: str
    compiler: str
    origin: str
    package: str
    releases: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    root: str = "."
    unwanted: tuple[str, ...] = ()
    also: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    remark: str = ""
    released: tuple[tuple[str, str], ...] = ()

    def version_numbers(self) -> tuple[str, ...]:
        """The library's versions, oldest first."""
        return tuple(version for version, _ in self.releases)


LZ4 = Recipe(
    library="liblz4",
    soname="liblz4.so.1",
    compiler="gcc",
    origin="pypi",
    package="lz4",
    releases=(
        ("1.8.0", "0.19.2"),
        ("1.8.1", "1.1.0"),
        ("1.8.2", "2.0.0"),
        ("1.8.3", "2.1.2"),
        ("1.9.1", "2.1.10"),
        ("1.9.2", "2.2.1"),
        ("1.9.3", "3.1.3"),
        ("1.9.4", "4.3.3"),
    ),
    root="lz4libs",
    sources=("lz4.c", "lz4hc.c", "lz4frame.c", "xxhash.c"),
    flags=("-fvisibility=hidden", "-DXXH_NAMESPACE=LZ4_"),
    remark="All releases from 1.8.0 to 1.9.4 but 1.9.0, which no package carries.",
    released=(
        ("1.8.0", "2018-02-01"),
        ("1.8.1", "2018-04-03"),
        ("1.8.2", "2018-06-09"),
        ("1.8.3", "2018-11-04"),
        ("1.9.1", "2019-06-09"),
        ("1.9.2", "2019-09-15"),
        ("1.9.3", "2021-01-19"),
        ("1.9.4", "2024-01-01"),
    ),
)

ZSTD = Recipe(
    library="libzstd",
    soname="libzstd.so.1",
    compiler="gcc",
    origin="pypi",
    package="zstd",
    releases=(
        ("1.4.8", "1.4.8.1"),
        ("1.4.9", "1.4.9.1"),
        ("1.5.0", "1.5.0.4"),
        ("1.5.1", "1.5.1.0"),
        ("1.5.2", "1.5.2.6"),
        ("1.5.4", "1.5.4.1"),
        ("1.5.5", "1.5.5.1"),
        ("1.5.6", "1.5.6.8"),
        ("1.5.7", "1.5.7.2"),
    ),
    root="zstd/lib",
    sources=("common/*.c", "compress/*.c", "decompress/*.[cS]", "dictBuilder/*.c", "legacy/zstd_v0[567].c"),
    flags=(
        *("-fvisibility=hidden", "-I.", "-Icommon", "-Ilegacy", "-pthread"),
        *("-DXXH_NAMESPACE=ZSTD_", "-DZSTD_LEGACY_SUPPORT=5", "-DZSTD_MULTITHREAD"),
    ),
    remark="All releases from 1.4.8 to 1.5.7; there was no 1.5.3.",
    released=(
        ("1.4.8", "2020-12-23"),
        ("1.4.9", "2021-04-16"),
        ("1.5.0", "2021-12-03"),
        ("1.5.1", "2022-01-03"),
        ("1.5.2", "2022-09-07"),
        ("1.5.4", "2023-03-23"),
        ("1.5.5", "2023-04-05"),
        ("1.5.6", "2025-05-01"),
        ("1.5.7", "2025-06-23"),
    ),
)

RAPIDYAML = "third_party/rapidyaml/rapidyaml"
"""Carried by libjsonnet from 0.18 to 0.20."""

JSONNET = Recipe(
    library="libjsonnet",
    soname="libjsonnet.so.0",
    compiler="g++",
    origin="pypi",
    package="jsonnet",
    releases=(
        ("0.11.2", "0.11.2"),
        ("0.12.1", "0.12.1"),
        ("0.13.0", "0.13.0"),
        ("0.14.0", "0.14.0"),
        ("0.15.0", "0.15.0"),
        ("0.16.0", "0.16.0"),
        ("0.17.0", "0.17.0"),
        ("0.18.0", "0.18.0"),
        ("0.19.1", "0.19.1"),
        ("0.20.0", "0.20.0"),
    ),
    sources=(
        *("core/*.cpp", "third_party/md5/*.cpp"),
        *(f"{RAPIDYAML}/src/c4/yml/*.cpp", f"{RAPIDYAML}/ext/c4core/src/c4/*.cpp"),
    ),
    unwanted=("core/*_test.cpp",),
    flags=(
        *("-std=c++17", "-Iinclude", "-Ithird_party/md5", "-Ithird_party/json"),
        *(f"-I{RAPIDYAML}/src", f"-I{RAPIDYAML}/ext/c4core/src"),
    ),
    remark="The last patch of each minor release from 0.11 to 0.20.",
    released=(
        ("0.11.2", "2018-07-19"),
        ("0.12.1", "2018-12-19"),
        ("0.13.0", "2019-06-03"),
        ("0.14.0", "2019-09-16"),
        ("0.15.0", "2020-02-09"),
        ("0.16.0", "2020-05-22"),
        ("0.17.0", "2020-11-22"),
        ("0.18.0", "2021-12-21"),
        ("0.19.1", "2022-10-27"),
        ("0.20.0", "2023-04-17"),
    ),
)

RE2 = Recipe(
    library="libre2",
    soname="libre2.so.9",
    compiler="g++",
    origin="npm",
    package="re2",
    releases=tuple(
        (carrier, carrier)
        for carrier in (
            "1.6.0",
            "1.8.0",
            "1.10.0",
            "1.13.1",
            "1.15.4",
            "1.15.8",
            "1.15.9",
            "1.17.1",
            "1.17.4",
            "1.19.0",
        )
    ),
    root="vendor",
    sources=("re2/*.cc", "util/rune.cc", "util/strutil.cc"),
    flags=("-std=c++14", "-I.", "-DNDEBUG", "-pthread"),
    remark="The package does not tell RE2's version: these are its own releases that came with other RE2 sources.",
)

RECIPES = {recipe.library: recipe for recipe in (LZ4, ZSTD, JSONNET, RE2)}


def build(recipe: Recipe, version: str) -> Path:
    """The shared library of one release with debug information, built once; the folder's name is the version."""
    built = CACHE / "built" / recipe.library / version / recipe.soname
    if not built.exists():
        compiler = require(recipe.compiler, recipe.compiler.replace("clang++", "clang"))
        root = _root(recipe, version)
        partial = built.with_name(f"{built.name}.{os.getpid()}.{threading.get_ident()}")
        partial.parent.mkdir(parents=True, exist_ok=True)
        link = ["-shared", f"-Wl,-soname,{recipe.soname}", "-o", partial]
        run([compiler, "-fPIC", "-g", "-O2", "-w", *recipe.flags, *_files(recipe, version, root), *link], root)
        partial.replace(built)
    return built


def _root(recipe: Recipe, version: str) -> Path:
    folder = source(recipe.origin, recipe.package, dict(recipe.releases)[version])
    return folder if recipe.root == "." else next(folder.glob(recipe.root))


def _files(recipe: Recipe, version: str, root: Path) -> list[Path]:
    """The sources relative to ``root``, so that no folder of this machine goes into the debug information's names."""
    unwanted = {path for pattern in recipe.unwanted for path in root.glob(pattern)}
    found = {path for pattern in recipe.sources for path in root.glob(pattern)} - unwanted
    found |= {path for release, pattern in recipe.also if release == version for path in root.glob(pattern)}
    return sorted(path.relative_to(root) for path in found)
