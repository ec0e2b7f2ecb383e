"""What a case study is made of: a library's releases, the packages that carry them, and how each line is built."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Release:
    """One release: the library's version, the package version that carries it, and that sdist's digest.

    ``released`` is the day that the changelog gives, or else that of the sdist. ``package`` is another package than the
    case's, where that one carries it.
    """

    version: str
    carrier: str
    sha256: str
    released: str
    soname: str
    package: str = ""


@dataclass(frozen=True)
class Shared:
    """One shared library of a release. ``name`` is its file, ``sources`` are globs below the case's root.

    ``headers`` are its own; without any, it has those of the case.
    """

    name: str
    sources: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A library with all its releases. ``lines`` maps each target's name to the compiler that builds it.

    ``root`` is the library's folder in the unpacked package, ``headers`` are globs of its public headers, and
    ``include`` are folders that headers and sources are found in. With ``cmake``, options for the library's own CMake
    files, these build and install it; headers are those of the installation then. ``lent`` are packages with sources
    that it would download, found below ``{sources}``. ``optimised`` is what the compiler is told without CMake.
    """

    name: str
    package: str
    root: str
    lines: dict[str, str]
    flags: tuple[str, ...]
    headers: tuple[str, ...]
    include: tuple[str, ...]
    libraries: tuple[Shared, ...]
    releases: tuple[Release, ...]
    cmake: tuple[str, ...] = ()
    lent: tuple[Release, ...] = ()
    optimised: str = "-O0"


def case(name: str) -> Case:
    """The case study that ``NAME.toml`` describes."""
    told = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    libraries = tuple(Shared(**_tuples(each)) for each in told.pop("library"))
    releases, lent = (tuple(Release(**each) for each in told.pop(key, ())) for key in ("release", "lent"))
    return Case(name=name, libraries=libraries, releases=releases, lent=lent, **_tuples(told))


def names() -> tuple[str, ...]:
    """The case studies that there are."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def _tuples(told: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}
