"""What an archive run is given: files with their versions, from a manifest, a folder, or standard input."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from abistore.errors import InputError, UsageError
from abistore.extract.files import InputFile, open_input
from abistore.extract.packages.libraries import format_of, is_binary, is_debug_file, is_named_like_one
from abistore.extract.reader import HeaderOptions, is_package
from abistore.files import status
from abistore.model.labels import Given
from abistore.model.words import did_you_mean, near
from abistore.service.ingest_gates import IngestPlan
from abistore.service.snapshots import is_json


class Item(Given, frozen=True):
    """One file of an archive: a library, a package or a JSON snapshot, and what the caller says about it.

    ``headers``, ``debug`` and ``devel`` are files, folders or packages with its public headers, its debug information,
    and its development packages. ``suite`` is that of the distribution that a package is from. What is ``None`` or
    empty is as in the plan of the whole run.
    """

    path: Path
    version: str | None = None
    library: str | None = None
    profile: str | None = None
    headers: tuple[str, ...] = ()
    debug: tuple[Path, ...] = ()
    devel: tuple[Path, ...] = ()
    revision: str | None = None
    released: datetime | None = None
    suite: str | None = None

    @property
    def key(self) -> ItemKey:
        """What identifies the item in the log of a run."""
        return ItemKey(str(self.path), self.version, self.library, self.profile)

    def plan(self, whole: IngestPlan) -> IngestPlan:
        """How this item is read and stored, where all others follow ``whole``."""
        own = {name: getattr(self, name) for name in ("version", "library", "profile", "revision", "released")}
        said = {name: value for name, value in own.items() if value is not None}
        plan = msgspec.structs.replace(whole, **said)
        labels = {"library": plan.library, "version": plan.version, "suite": self.suite or plan.options.suite}
        options = msgspec.structs.replace(plan.options, **labels)
        if self.headers:
            options = msgspec.structs.replace(options, headers=HeaderOptions.given(self.headers))
        if self.debug:
            folders, packages = _separated(self.debug)
            options = msgspec.structs.replace(
                options,
                debug_dirs=(*options.debug_dirs, *folders),
                debug_packages=(*options.debug_packages, *packages),
            )
        devel = (*self.devel, *options.devel_packages) if self.devel else options.devel_packages
        return msgspec.structs.replace(plan, options=msgspec.structs.replace(options, devel_packages=devel))


class ItemKey(NamedTuple):
    """What identifies an item: its path, and the labels that its manifest gives."""

    path: str
    version: str | None = None
    library: str | None = None
    profile: str | None = None


def _separated(debug: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Folders and debug files as they are installed, and packages of them."""
    folders, packages = list[Path](), list[Path]()
    for path in debug:
        with open_input(path) as file:
            (packages if isinstance(file, InputFile) and format_of(file.head) else folders).append(path)
    return folders, packages


MOST_BYTES: Final = 64 << 20
"""Bytes of a manifest."""

HINT: Final = "write PATH VERSION, and then library=, profile=, headers=, debug=, devel=, revision= or released="


def manifest_items(path: Path) -> Iterator[Item]:
    """The items of a manifest, whose paths are relative to its folder. Raises :class:`UsageError`, :class:`InputError`.

    Each line is ``PATH VERSION``, and then words like ``library=libfoo`` or ``headers=include``, quoted as in a shell.
    The version may be left out where the file itself has one. A ``#`` begins a comment.
    """
    with InputFile(path) as file:
        file.check_size(MOST_BYTES)
        data = file.read_at(0, file.size)
    if b"\0" in data:
        raise InputError(f"{path}: neither a manifest nor a library", HINT)
    return listed_items(data.decode("utf-8-sig", "surrogateescape"), str(path), path.parent)


def standard_input_items() -> Iterator[Item]:
    """The items of a manifest on standard input, whose paths are relative to the current folder."""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"standard input: more than {MOST_BYTES:,} bytes", "split the list")
    return listed_items(data.decode("utf-8-sig", "surrogateescape"), "standard input", Path())


def listed_items(text: str, name: str, folder: Path) -> Iterator[Item]:
    """The items in the lines of a manifest called ``name``. Raises :class:`UsageError`."""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
            if words:
                yield _item(words, folder)
        except (UsageError, ValueError) as error:
            hint = error.hint if isinstance(error, UsageError) and error.hint else HINT
            raise UsageError(f"{name}: line {number}: {error}", hint) from error


def _item(words: list[str], folder: Path) -> Item:
    path, *rest = words
    version = rest.pop(0) if rest and "=" not in rest[0] else None
    said: dict[str, list[str]] = {}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals or key not in _VALUES:
            raise UsageError(f"{word[:80]!r} is not KEY=VALUE of a known key", did_you_mean(near(key, KEYS), HINT))
        said.setdefault(key, []).append(value)
    values = {key: _VALUES[key](each, folder) for key, each in said.items()}
    return msgspec.structs.replace(Item(folder / path, version), **values)


def _one(values: list[str], folder: Path) -> str:
    if len(values) > 1:
        raise UsageError(f"{values[1]!r} is a second value of one key", "give each key once")
    return values[0]


def _paths(values: list[str], folder: Path) -> tuple[Path, ...]:
    return tuple(folder / each for each in values)


def _headers(values: list[str], folder: Path) -> tuple[str, ...]:
    """Each path in the folder, behind the library that may be named before it: ``libfoo=include``."""
    parts = (each.rpartition("=") for each in values)
    return tuple(f"{library}{equals}{folder / path}" for library, equals, path in parts)


def _day(values: list[str], folder: Path) -> datetime:
    moment = datetime.fromisoformat(_one(values, folder))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_VALUES: Final[dict[str, Callable[[list[str], Path], object]]] = {
    "version": _one,
    "library": _one,
    "profile": _one,
    "revision": _one,
    "suite": _one,
    "headers": _headers,
    "debug": _paths,
    "devel": _paths,
    "released": _day,
}
KEYS: Final = tuple(_VALUES)


def folder_items(folder: Path) -> Iterator[Item]:
    """Each library, package and JSON snapshot in a folder and below, in the order of their paths.

    Links, hidden folders and files with debug information alone are left out.
    """
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Item(path) for name in sorted(names) if _is_one(path := Path(place, name)))


def _is_one(path: Path) -> bool:
    """Whether a file in a folder is meant to be stored."""
    if path.is_symlink() or not path.is_file() or not status(path).st_size or is_debug_file(str(path)):
        return False
    with InputFile(path) as file:
        return is_file_to_read(file)


def is_file_to_read(file: InputFile) -> bool:
    """Whether a file is a library by its name, a package, or a JSON snapshot, and not a list of such."""
    named = is_binary(file.head) and is_named_like_one(file.path.name)
    return named or is_package(file) or (file.path.suffix == ".json" and is_json(file))
