"""Where declarations stand, for people: with one path for each header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from abistore.model.declarations import TYPES, Declared, Name
from abistore.model.snapshot import HeadersRead, Location, Snapshot


class Places:
    """The places of a snapshot's declarations.

    Who reads headers calls them by paths within what was given (``tally.h``). Debug information has the paths of the
    build (``include/tally.h``), which lead to the file in the sources: a header has that one wherever it is known.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def of(self, name: Name) -> Location | None:
        """The place of a declaration; ``None`` where it is not known."""
        place = self._snapshot.locations.get(name)
        return None if place is None else self.shown(place)

    def shown(self, place: Location) -> Location:
        """A place in this snapshot as people are shown it."""
        if place.file not in self._headers:
            return place
        return Location(self._paths.get(place.file, f"{self._folder}{place.file}"), place.line)

    @cached_property
    def _headers(self) -> frozenset[str]:
        read = self._snapshot.provenance.headers
        return frozenset(read.files) if isinstance(read, HeadersRead) else frozenset()

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """The path that most types of a header have in debug information; of several the shortest."""
        counts = Counter(path for path in self._of_types() if path not in self._headers)
        found: dict[str, str] = {}
        for path in sorted(counts, key=lambda each: (-counts[each], len(each), each)):
            for header in _ends(path):
                if header in self._headers:
                    found.setdefault(header, path)
                    break
        return found

    @cached_property
    def _folder(self) -> str:
        """Where the given headers lie in the sources; empty where that is not known, or not one folder."""
        read = self._snapshot.provenance.headers
        found = {path.removesuffix(header) for header, path in self._paths.items()}
        return found.pop() if isinstance(read, HeadersRead) and len(read.given) == len(found) == 1 else ""

    def _of_types(self) -> Iterator[str]:
        for name, shapes in self._snapshot.entries.get("source", {}).items():
            if name.kind in TYPES and any(isinstance(each, Declared) for each in shapes):
                place = self._snapshot.locations.get(name)
                if place is not None:
                    yield place.file


def _ends(path: str) -> Iterator[str]:
    """What a path ends with, from one folder below the first to the name alone: ``foo/a.h`` and ``a.h``."""
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(1, len(parts)))
