"""Copies of one definition: every unit repeats what its headers define, and macros may make copies differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from abistore.extract.dwarf.entries.walk import Die, skip
from abistore.model.names import Name
from abistore.model.shapes import AnyShape

Key: TypeAlias = tuple[Name, tuple[str, int], int | None]
"""What copies have in common: name, place of declaration, size in bytes."""

MOST: Final = 3
"""Copies of one definition that are always read. Of a template instance one is enough: its name tells its arguments."""


class DefinitionCopies:
    """Chooses which copies are read: one as long as a copy read before only if copies turn out to differ."""

    def __init__(self) -> None:
        self._handles: dict[Key, set[int]] = {}
        self._lengths: dict[Key, set[int]] = {}
        self._left: dict[Name, list[int]] = {}

    def wants(self, key: Key, handle: int, die: Die) -> bool:
        """Whether the definition ``handle`` is to be read now."""
        handles = self._handles.setdefault(key, set())
        if handle in handles:
            return False
        handles.add(handle)
        if "<" in key[0].spelling:
            return len(handles) == 1
        lengths = self._lengths.setdefault(key, set())
        length = _length(handle, die)
        if len(handles) > MOST and length in lengths:
            self._left.setdefault(key[0], []).append(handle)
            return False
        lengths.add(length)
        return True

    def doubtful(self, entries: Mapping[Name, Sequence[AnyShape]]) -> Iterator[tuple[Name, int]]:
        """The copies that were not read of what has more than one shape, each once: name and handle."""
        for name in [name for name in self._left if len(entries.get(name, ())) > 1]:
            for handle in self._left.pop(name):
                yield name, handle

    def apart(self, entries: Mapping[Name, Sequence[AnyShape]]) -> Iterator[tuple[Name, str]]:
        """What has more than one shape, and is defined at several lines of one file: name and file.

        Object files were compiled from two states of that file then, or a macro chose.
        """
        lines: dict[tuple[Name, str], set[int]] = {}
        for name, (file, line), _ in self._handles:
            if file and len(entries.get(name, ())) > 1:
                lines.setdefault((name, file), set()).add(line)
        return (key for key in sorted(lines) if len(lines[key]) > 1)


def _length(handle: int, die: Die) -> int:
    """The size of an entry with all that it holds, in bytes: a member more or less shows in it."""
    unit = die[0]
    start = handle - unit.base
    return skip(*unit.at(start), unit) - start
