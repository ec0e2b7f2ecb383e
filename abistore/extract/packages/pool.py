"""Folders of packages: those of them that a library's headers are in, and those that these need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from abistore.errors import LimitExceeded
from abistore.extract.input_file import InputFile, InputFolder, open_input
from abistore.extract.packages.development import INCLUDE
from abistore.extract.packages.entries import format_of
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.packages.package_index import is_index

MOST_PACKAGES = 200
"""How many packages are unpacked for their headers."""

Identify = Callable[[InputFile], PackageIdentity]


def with_needed(paths: Sequence[Path], beside: PackageIdentity, identify: Identify) -> list[Path]:
    """The packages at ``paths``; of a folder of packages, what headers for the package ``beside`` may need.

    Those are the packages that need ``beside`` in its own version, what the given ones need, and so on. Where nothing
    says so, it is all of them. Raises :class:`LimitExceeded` for more than :data:`MOST_PACKAGES`.
    """
    pools = {path: _held(path) for path in paths}
    if not any(pools.values()):
        return list(paths)
    given = [path for path in paths if not pools[path]]
    known = {path: _identity(path, identify) for pool in pools.values() for path in pool}
    first = [path for path, each in known.items() if beside.name and beside.name in each.built_with]
    wanted = [*(_identity(path, identify) for path in given), *(known[path] for path in first)]
    found = (
        [*given, *first, *_needed(wanted, known)] if first or any(each.needs for each in wanted) else [*given, *known]
    )
    chosen = list(dict.fromkeys(found))
    if len(chosen) > MOST_PACKAGES:
        raise LimitExceeded(
            f"{len(chosen):,} packages may have headers that are needed, and {MOST_PACKAGES} are unpacked at most",
            "name the packages one by one with --devel-package",
        )
    return chosen


def others(paths: Sequence[Path], chosen: Sequence[Path]) -> list[Path]:
    """What folders of packages hold that was not chosen."""
    return [each for path in paths for each in _held(path) if each not in chosen]


def _held(path: Path) -> list[Path]:
    """The packages directly in a folder; none where its own headers lie there as they are installed."""
    with open_input(path) as file:
        if not isinstance(file, InputFolder):
            return []
    if any((path / prefix / INCLUDE).is_dir() for prefix in ("", "usr")):
        return []
    return [each for each in sorted(path.iterdir()) if not is_index(each) and each.is_file() and _is_package(each)]


def _is_package(path: Path) -> bool:
    if not path.stat().st_size:
        return False
    with open_input(path) as file:
        return format_of(file.head) is not None


def _identity(path: Path, identify: Identify) -> PackageIdentity:
    with open_input(path) as file:
        return identify(file)


def _needed(wanted: Iterable[PackageIdentity], known: Mapping[Path, PackageIdentity]) -> list[Path]:
    """What packages need of those that are known, and what these need."""
    by_name = {each.name: path for path, each in known.items()}
    pending, found = [name for each in wanted for name in each.needs], dict[Path, None]()
    while pending:
        path = by_name.get(pending.pop())
        if path is not None and path not in found:
            found[path] = None
            pending += known[path].needs
    return list(found)
