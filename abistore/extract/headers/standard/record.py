"""What is recorded of headers that were parsed before: what they were made of, and what others could tell of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

State: TypeAlias = tuple[int, int, int, int]
"""A file's size, the times of its last writing and change in nanoseconds, and its number on its disk."""


class StandardRecord(msgspec.Struct, frozen=True):
    """Headers of the C++ library, parsed as one text. All paths are without links.

    ``files`` are what was read, ``folders`` where it was looked for, with the times of their last writing; ``None``
    for one that was not there. ``headers`` are the files of the headers asked for. ``includes`` tells which files each
    includes, ``names`` which files are meant by what stands in their includes. ``words`` are all words in them,
    ``usual`` those of them that are macros before anything is read, ``macros`` those that are at the end, with the
    files that define them.
    """

    digest: str
    headers: tuple[str, ...]
    files: Mapping[str, State]
    folders: Mapping[str, int | None]
    includes: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    words: frozenset[str]
    usual: frozenset[str]
    macros: Mapping[str, tuple[str, ...]]

    def is_current(self) -> bool:
        """Whether all files are as they were, and none that would be found before them may have come."""
        try:
            return all(state(path) == known for path, known in self.files.items()) and all(
                written(folder) == known for folder, known in self.folders.items()
            )
        except OSError:
            return False

    def is_shadowed(self, folders: Iterable[Path]) -> bool:
        """Whether one of ``folders``, which are searched before those of the system, has another file of a name."""
        for folder in folders:
            for name, files in self.names.items():
                found = os.path.join(folder, name)  # noqa: PTH118 - a thousand of them
                if os.path.exists(found) and os.path.realpath(found) not in files:  # noqa: PTH110 - as many
                    return True
        return False

    def reached(self, files: Sequence[str]) -> Iterator[str]:
        """``files``, and what they include."""
        seen, pending = set(files), list(files)
        while pending:
            file = pending.pop()
            yield file
            for each in self.includes.get(file, ()):
                if each not in seen:
                    seen.add(each)
                    pending.append(each)


def state(path: str) -> State:
    """What tells whether a file was changed. Raises :class:`OSError`."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def written(folder: str) -> int | None:
    """When something came into a folder or left it; ``None`` where there is none."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return None


def searched(names: Mapping[str, Iterable[str]], more: Iterable[str]) -> dict[str, int | None]:
    """The folders in which files of these names would be found, with the times of their last writing."""
    found = [(name, file) for name, files in names.items() for file in files if file.endswith(f"/{name}")]
    roots = {Path(file.removesuffix(f"/{name}")) for name, file in found}
    inner = {Path(name).parent for name in names}
    places = {str(root / each) for root in roots.union(map(Path, more)) for each in inner}
    return {place: written(place) for place in sorted(places)}
