"""The rule by which a hundred pairs of Debian packages are chosen.

A source is a candidate if one of its packages

- is in section libs, has a name that begins with ``lib``, and is built for amd64;
- is in both suites under the same name: in bookworm and trixie with different upstream versions, in bookworm and its
  security suite with different versions, of which the lower one is the old one;
- has at most 2 MB on each side;
- has, on both sides, development packages of the same source that depend on it, together of at most 3 MB.

Of several such packages the first by name counts. A source is left out if it, or that package, has nearly the name of
a library in this project's other measurements, with which rules were made. Candidates are ordered by the SHA-256 of
the source's name, and chosen if, on both sides, the package has a shared library in a public folder and the
development packages have headers: the first 15 of the security suite, then of other sources the first 50 in C and
the first 35 in C++ from bookworm to trixie. The language is C++ if the package depends on ``libstdc++6`` on a side.
"""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.accuracy.debian import DebianPair
from benchmarks.accuracy.debian.obtaining import sides
from examples.archive.apt import NEW, OLD, SECURITY, SUITES, Archive, Index, Package
from examples.more_recipes import ALL
from examples.obtain import PROJECT, Missing, require, run

LIBRARY_BYTES, DEVEL_BYTES = 2_000_000, 3_000_000
SECURITY_PAIRS: Final = 15
QUOTAS: Final = {"C": 50, "C++": 35}

TABLES: Final = ("benchmarks/accuracy/truth.csv", "benchmarks/accuracy/unseen/pairs.csv", "tests/pairs/answers.csv")
"""The project's other measurements; each has a column ``library``."""

CASE_STUDIES: Final = PROJECT / "examples" / "case_studies"
LETTERS: Final = 4
"""A name that begins with another one of at least so many letters is nearly the same."""

SHARED: Final = re.compile(r"\./(?:usr/)?lib/(?:x86_64-linux-gnu/)?lib[^/]*\.so(?:\.[^/]*)?")
REPACKED: Final = re.compile(r"[+~.-]?(?:dfsg|ds|repack)[\d.]*$")


class Side(NamedTuple):
    """A library package of a suite with its development packages."""

    library: Package
    devel: tuple[Package, ...]


def choose(archive: Archive, folder: Path) -> Iterator[DebianPair]:
    """The hundred pairs; their packages are downloaded to ``folder``, by suite."""
    indexes = {suite: archive.index(suite) for suite in SUITES}
    known = measured()
    usable = partial(holds_libraries_and_headers, archive, folder)
    chosen: set[str] = set()
    for pair in islice(filter(usable, candidates(indexes, OLD, SECURITY, known)), SECURITY_PAIRS):
        chosen.add(pair.source)
        yield pair
    left = dict(QUOTAS)
    for pair in candidates(indexes, OLD, NEW, known):
        if pair.source not in chosen and left[pair.language] and usable(pair):
            left[pair.language] -= 1
            yield pair


def candidates(indexes: Mapping[str, Index], first: str, second: str, known: AbstractSet[str]) -> list[DebianPair]:
    """The candidates of two suites, in the order of the SHA-256 of their source's name."""
    devel = {suite: development(indexes[suite]) for suite in (first, second)}
    found: dict[str, DebianPair] = {}
    for name in sorted(devel[first].keys() & devel[second].keys()):
        pair = candidate(*(Side(indexes[suite][name], tuple(devel[suite][name])) for suite in (first, second)))
        if pair and not is_measured(pair, known):
            found.setdefault(pair.source, pair)
    return sorted(found.values(), key=lambda pair: sha256(pair.source.encode()).hexdigest())


def candidate(first: Side, second: Side) -> DebianPair | None:
    """The pair of a package in two suites, unless the rule excludes it."""
    if not is_admitted(first) or not is_admitted(second) or not differ(first, second):
        return None
    old, new = (second, first) if is_lower(second.library, first.library) else (first, second)
    devel = sorted({package.name for package in old.devel} & {package.name for package in new.devel})
    language = "C++" if "libstdc++6" in old.library.needed | new.library.needed else "C"
    names = old.library.source, old.library.name
    versions = old.library.version, new.library.version
    return (
        DebianPair(*names, old.library.suite, new.library.suite, *versions, tuple(devel), language) if devel else None
    )


def is_lower(package: Package, other: Package) -> bool:
    """Whether a package has a lower version than the other one."""
    compared = ["dpkg", "--compare-versions", package.version, "lt", other.version]
    return package.version != other.version and subprocess.run(compared, check=False).returncode == 0


def is_admitted(side: Side) -> bool:
    """Whether the rule admits the section, the name and the sizes of a side."""
    library = side.library
    named = library.section == "libs" and library.name.startswith("lib") and library.architecture == "amd64"
    return named and library.size <= LIBRARY_BYTES and sum(each.size for each in side.devel) <= DEVEL_BYTES


def differ(first: Side, second: Side) -> bool:
    """Whether two sides are of one source and differ in version as the rule wants it of their suites."""
    one, other = first.library, second.library
    if one.source != other.source:
        return False
    if SECURITY in (one.suite, other.suite):
        return one.version != other.version
    return upstream(one.source_version) != upstream(other.source_version)


def upstream(version: str) -> str:
    """The upstream version within a Debian version, without the marks of a repacked source."""
    return REPACKED.sub("", version.split(":", 1)[-1].rsplit("-", 1)[0])


def development(index: Index) -> dict[str, list[Package]]:
    """By library package, the development packages of the same source that depend on it."""
    found: dict[str, list[Package]] = {}
    for package in index.values():
        if package.section == "libdevel" and package.name.endswith("-dev"):
            for name in package.needed & index.keys():
                if index[name].source == package.source:
                    found.setdefault(name, []).append(package)
    return found


def measured() -> frozenset[str]:
    """The letters of the libraries in the project's other measurements."""
    names = {*ALL, *(path.stem for path in CASE_STUDIES.glob("*.toml"))}
    for table in TABLES:
        with (PROJECT / table).open(newline="") as rows:
            names |= {row["library"] for row in csv.DictReader(rows)}
    return frozenset(map(letters, names))


def is_measured(pair: DebianPair, known: AbstractSet[str]) -> bool:
    """Whether the source or the package has nearly the name of a library of other measurements."""
    names = {letters(pair.source), letters(pair.package)}
    return any(name in known or any(begins(name, other) for other in known) for name in names)


def begins(name: str, other: str) -> bool:
    """Whether one name begins with the other one."""
    short, long = sorted((name, other), key=len)
    return len(short) >= LETTERS and long.startswith(short)


def letters(name: str) -> str:
    """The letters of a name, without ``lib`` before and ``dev`` behind: what different spellings share."""
    return re.sub(r"[^a-z]", "", name.lower().removeprefix("lib").removesuffix("-dev"))


def holds_libraries_and_headers(archive: Archive, folder: Path, pair: DebianPair) -> bool:
    """Whether both sides of a pair have a shared library and headers; downloads them to ``folder``."""
    try:
        return all(_holds(archive.download(side, folder)) for side in sides(archive, pair))
    except Missing:
        return False


def _holds(files: Sequence[Path]) -> bool:
    library, *devel = files
    headers = any("/include/" in member for package in devel for member in members(package))
    return headers and any(SHARED.fullmatch(member) for member in members(library))


def members(package: Path) -> list[str]:
    """The paths of the files in a package, without folders and links."""
    listed = run([require("dpkg-deb", "dpkg"), "--contents", package], package.parent).splitlines()
    return [line.split(maxsplit=5)[5] for line in listed if line.startswith("-")]
