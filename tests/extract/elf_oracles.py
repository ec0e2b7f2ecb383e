"""What nm, readelf and pyelftools say about ELF files, in the terms of a snapshot."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from abistore.model.shapes import Import, Symbol
from abistore.model.snapshot import Snapshot

Versioned = tuple[str, str | None, bool]
"""A symbol's name, its version, and whether that one is the default (true for unversioned ones)."""


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def nm_lines(files: Sequence[Path]) -> Iterator[tuple[Path, str, str]]:
    """Each symbol that ``nm -D`` lists: its file, its type letter, its name with version."""
    for line in run("nm", "-D", "-A", "--with-symbol-versions", *files).splitlines():
        file, rest = line.split(":", 1)
        letter, name = rest[17:].split(" ", 1) if len(rest.split()[0]) == 16 else rest.split(None, 2)[-2:]
        yield Path(file), letter.strip(), name


def split_version(name: str) -> Versioned:
    base, at, version = name.partition("@")
    return (base, version.lstrip("@") or None, version.startswith("@") or not at)


def nm_exports(files: Sequence[Path]) -> dict[Path, set[Versioned]]:
    """Defined symbols. The absolute ones that stand for a version definition are no exports, here or there.

    Nor are those in sections that are not loaded (N, n), which the dynamic linker passes over.
    """
    found: dict[Path, set[Versioned]] = {file: set() for file in files}
    for file, letter, name in nm_lines(files):
        base, version, default = split_version(name)
        if letter not in ("U", "w", "v", "N", "n") and not (letter == "A" and version in (base, None)):
            found[file].add((base, version, default))
    return found


def nm_imports(files: Sequence[Path]) -> dict[Path, set[tuple[str, str | None, bool]]]:
    """Undefined symbols: name, version, weak."""
    found: dict[Path, set[tuple[str, str | None, bool]]] = {file: set() for file in files}
    for file, letter, name in nm_lines(files):
        if letter in ("U", "w", "v"):
            found[file].add((*split_version(name)[:2], letter != "U"))
    return found


def snapshot_exports(snapshot: Snapshot) -> set[Versioned]:
    return {
        (name.spelling, shape.version, shape.default)
        for name, shapes in snapshot.entries["symbol"].items()
        for shape in shapes
        if isinstance(shape, Symbol)
    }


def snapshot_imports(snapshot: Snapshot) -> set[tuple[str, str | None, bool]]:
    return {
        (name.spelling, shape.version, shape.weak)
        for name, shapes in snapshot.entries["symbol"].items()
        for shape in shapes
        if isinstance(shape, Import)
    }
