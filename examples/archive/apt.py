"""The package indexes of Debian's suites, and packages from them, through an apt root of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from examples.obtain import Missing, require, run

OLD, NEW, SECURITY = "bookworm", "trixie", "bookworm-security"
SUITES: Final = (OLD, NEW, SECURITY)

FIELD: Final = re.compile(r"^(\S+?):\s+(.*)$", re.MULTILINE)
SOURCE: Final = re.compile(r"(\S+)(?: \((\S+)\))?")
KEYRING: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclass(frozen=True, slots=True)
class Package:
    """A binary package of a suite. ``size`` is that of the ``.deb`` file in bytes.

    ``depends`` has the names of each group of alternatives; ``source_version`` lacks a binary rebuild's suffix.
    """

    suite: str
    name: str
    version: str
    source: str
    source_version: str
    section: str
    architecture: str
    size: int
    depends: tuple[tuple[str, ...], ...]
    provides: tuple[str, ...]

    @property
    def needed(self) -> frozenset[str]:
        """All names that it depends on, also as alternatives."""
        return frozenset(name for group in self.depends for name in group)

    @property
    def path(self) -> str:
        """Its file within the folder of all suites, named as apt names it."""
        folder = self.suite.removeprefix(f"{OLD}-")
        return f"{folder}/{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


TOOLCHAIN: Final = re.compile(r"(libc6|linux-libc|libstdc\+\+-\d+|libgcc-\d+)-dev")
"""What a compiler brings itself."""

Index: TypeAlias = Mapping[str, Package]
"""The packages of a suite by name."""


class Archive:
    """An apt root in ``folder`` that knows the three suites, from the hosts of the machine's own sources."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._sources = self._folder / "sources.list"
        self._indexes: dict[str, Index] = {}

    def update(self) -> None:
        """Read the indexes anew; Missing without network or without sources of Debian."""
        for each in ("state/lists/partial", "cache/archives/partial"):
            (self._folder / each).mkdir(parents=True, exist_ok=True)
        main, security = _hosts()
        hosts = {OLD: main, NEW: main, SECURITY: security}
        lines = (f"deb [signed-by={KEYRING}] {hosts[suite]} {suite} main\n" for suite in SUITES)
        self._sources.write_text("".join(lines))
        self._apt("update")
        self._indexes.clear()

    def index(self, suite: str) -> Index:
        """The packages of a suite; of several versions of a package the one that its index lists last."""
        if suite not in self._indexes:
            self._indexes[suite] = {package.name: package for package in packages(suite, self.text(suite))}
        return self._indexes[suite]

    def text(self, suite: str) -> str:
        """The index of a suite as its host has it."""
        path = self._target(suite, "FILENAME")
        return run([require("/usr/lib/apt/apt-helper", "apt"), "cat-file", path], self._folder)

    def release(self, suite: str) -> str:
        """The point release of a suite, as its index states it."""
        return self._target(suite, "VERSION")

    def download(self, chosen: Iterable[Package], folder: Path) -> list[Path]:
        """The files of these packages, below ``folder``; Missing where one cannot be downloaded."""
        wanted = {package: folder.resolve() / package.path for package in chosen}
        for parent in {path.parent for path in wanted.values()}:
            parent.mkdir(parents=True, exist_ok=True)
            absent = [package for package, path in wanted.items() if path.parent == parent and not path.exists()]
            if absent:
                self._apt("download", *(f"{each.name}={each.version}" for each in absent), folder=parent)
        return list(wanted.values())

    def _target(self, suite: str, field: str) -> str:
        words = ("--format", f"$({field})", "Created-By: Packages", f"Codename: {suite}")
        return self._apt("indextargets", *words).strip()

    def _apt(self, *words: str, folder: Path | None = None) -> str:
        options = {
            "Dir::Etc::sourcelist": self._sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": self._folder / "state",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": self._folder / "cache",
            "Dir::Cache::pkgcache": "pkgcache.bin",  # images for containers switch both caches off
            "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
            "Acquire::Languages": "none",
            "APT::Architecture": "amd64",
            "APT::Sandbox::User": "root",
        }
        given = [f"-o{name}={value}" for name, value in options.items()]
        return run([require("apt-get", "apt"), "-q", *given, *words], folder or self._folder)


def dependencies(archive: Archive, devel: Iterable[Package]) -> list[Package]:
    """The development packages that these depend on, also indirectly, without themselves, sorted by name.

    Those of the security suite depend on its packages of the same source, and else on bookworm's.
    """
    given = {package.name: package for package in devel}
    found, open_packages = dict(given), list(given.values())
    while open_packages:
        for package in _direct(archive, open_packages.pop()):
            if package.name not in found:
                found[package.name] = package
                open_packages.append(package)
    return [package for name, package in sorted(found.items()) if name not in given]


def _direct(archive: Archive, package: Package) -> Iterator[Package]:
    """The first alternative of each group, if it is a development package."""
    index = archive.index(OLD if package.suite == SECURITY else package.suite)
    own = archive.index(package.suite)
    for group in package.depends:
        siblings = (own[name] for name in group if name in own and own[name].source == package.source)
        chosen = next(siblings, None) or next(filter(None, (_named(index, name) for name in group)), None)
        if chosen and is_development(chosen) and not TOOLCHAIN.fullmatch(chosen.name):
            yield chosen


def is_development(package: Package) -> bool:
    """Whether a package may have headers: some in section libdevel are named otherwise than ``-dev``."""
    return package.name.endswith("-dev") or package.section == "libdevel"


def _named(index: Index, name: str) -> Package | None:
    """The package of this name, or the first that provides it."""
    if name in index or not name.endswith("-dev"):
        return index.get(name)
    return min((each for each in index.values() if name in each.provides), key=lambda each: each.name, default=None)


def _hosts() -> Sequence[str]:
    """Where the machine's own sources have Debian, and where they have its security suite."""
    words = ("indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages", "Origin: Debian")
    listed = [line.split() for line in run([require("apt-get", "apt"), *words], Path.cwd()).splitlines()]
    main = [uri for uri, suite in listed if suite and "-" not in suite]
    security = [uri for uri, suite in listed if suite.endswith("-security")]
    if not main or not security:
        raise Missing("the sources of apt name no Debian suite, or no security suite; run apt-get update")
    return main[0], security[0]


def packages(suite: str, text: str) -> Iterator[Package]:
    """The packages in the text of a suite's index."""
    for paragraph in text.split("\n\n"):
        fields = dict(FIELD.findall(paragraph))
        if "Package" in fields:
            yield _package(suite, fields)


def _package(suite: str, fields: Mapping[str, str]) -> Package:
    name, version = fields["Package"], fields["Version"]
    source = SOURCE.match(fields.get("Source", name))
    assert source, name
    return Package(
        suite=suite,
        name=name,
        version=version,
        source=source[1],
        source_version=source[2] or version,
        section=fields.get("Section", ""),
        architecture=fields["Architecture"],
        size=int(fields["Size"]),
        depends=_names(fields.get("Depends", "")) + _names(fields.get("Pre-Depends", "")),
        provides=tuple(name for group in _names(fields.get("Provides", "")) for name in group),
    )


def _names(relations: str) -> tuple[tuple[str, ...], ...]:
    """The names of ``a (>= 1), b:any | c``, without versions and architectures."""
    groups = (group.split("|") for group in relations.split(",") if group.strip())
    return tuple(tuple(re.split(r"[\s:(]", name.strip(), maxsplit=1)[0] for name in group) for group in groups)
