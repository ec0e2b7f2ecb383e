"""The packages of the pairs, and those that their headers need, in a folder outside the repository.

::

    bookworm/ trixie/ security/                     the packages as downloaded
    unpacked/PACKAGE/{old,new}/                     library and development packages, unpacked
    unpacked/PACKAGE/{old,new}.control/             control files of the library package: symbols, shlibs
    unpacked/PACKAGE/{old,new}.library/             links to the library package
    unpacked/PACKAGE/{old,new}.devel/               links to the development packages and to those they depend on
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from benchmarks.accuracy.debian import DebianPair
from examples.archive.apt import Archive, Package, dependencies
from examples.obtain import Missing, require, run

DEPENDENCY_BYTES: Final = 300_000_000
"""The limit for all packages that development packages depend on."""


def sides(archive: Archive, pair: DebianPair) -> tuple[tuple[Package, ...], tuple[Package, ...]]:
    """Old and new: the library package, then its development packages; Missing where a suite has another version."""
    return _side(archive, pair, pair.old_suite, pair.old), _side(archive, pair, pair.new_suite, pair.new)


def _side(archive: Archive, pair: DebianPair, suite: str, version: str) -> tuple[Package, ...]:
    index = archive.index(suite)
    found = index.get(pair.package)
    if found is None or found.version != version:
        has = found.version if found else "none"
        raise Missing(f"{pair.package}: {suite} has version {has} now, not {version}")
    return found, *(index[name] for name in pair.devel)


def obtain(archive: Archive, chosen: Iterable[DebianPair], folder: Path) -> int:
    """Download and unpack all packages of these pairs; how many bytes are of packages that others depend on.

    Missing where a package cannot be downloaded, or where dependencies have more than ``DEPENDENCY_BYTES``.
    """
    found = {pair: sides(archive, pair) for pair in chosen}
    further = {side: dependencies(archive, side[1:]) for both in found.values() for side in both}
    needed = {package for packages in further.values() for package in packages}
    size = sum(package.size for package in needed)
    if size > DEPENDENCY_BYTES:
        raise Missing(f"dependencies have {size} bytes, of at most {DEPENDENCY_BYTES}")
    archive.download({*needed, *(package for side in further for package in side)}, folder)
    for pair, both in found.items():
        for name, side in zip(("old", "new"), both, strict=True):
            files = archive.download((*side, *further[side]), folder)
            unpack(files[: len(side)], files[1:], (folder / "unpacked" / pair.package / name).resolve())
    return size


def unpack(own: list[Path], devel: list[Path], target: Path) -> None:
    """Unpack the library and development packages of a side, and link to what is asked about."""
    library = own[0]
    tool = require("dpkg-deb", "dpkg")
    for each in ("", ".control", ".library", ".devel"):
        shutil.rmtree(target.with_name(target.name + each), ignore_errors=True)
    target.mkdir(parents=True)
    for package in own:
        run([tool, "-x", package, target], target)
    run([tool, "-e", library, target.with_name(f"{target.name}.control")], target)
    for name, files in (("library", [library]), ("devel", devel)):
        links = target.with_name(f"{target.name}.{name}")
        links.mkdir()
        for file in files:
            (links / file.name).symlink_to(file)
