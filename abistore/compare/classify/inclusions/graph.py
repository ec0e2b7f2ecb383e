"""The public headers of one side as a graph: which lead to which, where sources begin, and what each declares."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from abistore.compare.classify.constants.replaced import is_own
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.snapshot import HeaderOutline, HeadersRead

FEWEST: Final = 4
"""Of fewer headers one and what it includes are soon half."""


class IncludeGraph:
    """The public headers of one side: which are reached from each, and where declarations stand."""

    def __init__(self, side: SideFacts, read: HeadersRead) -> None:
        self.files = frozenset(read.files).difference(read.set_aside)
        self._side = side
        self._outlines = {each.file: each for each in read.outlines}
        self._reached: dict[str, frozenset[str]] = {}
        self._headers: dict[str, str | None] = {}

    def outline(self, file: str) -> HeaderOutline:
        """What is recorded of a header."""
        return self._outlines.get(file) or HeaderOutline(file)

    def reached(self, file: str) -> frozenset[str]:
        """What a source gets that includes a header: this one, and all that it leads to."""
        if file not in self._reached:
            found, pending = {file}, [file]
            while pending:
                come = set(self.outline(pending.pop()).includes) - found
                found |= come
                pending += come
            self._reached[file] = frozenset(found)
        return self._reached[file]

    def with_header(self, file: str) -> frozenset[str]:
        """The headers from which one is reached, itself among them."""
        return frozenset(each for each in self.files if file in self.reached(each))

    @cached_property
    def entries(self) -> frozenset[str]:
        """The headers that no other includes: sources begin with them. Those that include each other count as one."""
        included = {
            each for by, outline in self._outlines.items() for each in outline.includes if by not in self.reached(each)
        }
        return self.files - included

    @cached_property
    def main(self) -> frozenset[str]:
        """The entries that stand for the library: the only one, those called like it, and those that lead to half."""
        if len(self.entries) == 1:
            return self.entries
        called = _letters(self._side.snapshot.library).removeprefix("lib")
        return frozenset(
            each
            for each in self.entries
            if _letters(PurePosixPath(each).stem).removeprefix("lib") == called
            or 2 * len(self.reached(each) & self.files) >= max(len(self.files), FEWEST)
        )

    @cached_property
    def names(self) -> Mapping[str, frozenset[Name]]:
        """What each header declares, as far as it is known where that stands."""
        found: dict[str, set[Name]] = {}
        for name, shapes in self._side.snapshot.entries.get("source", {}).items():
            file = self.header(name)
            if file is not None and any(_is_for_programs(name, each) for each in shapes):
                found.setdefault(file, set()).add(name)
        return {file: frozenset(names) for file, names in found.items()}

    def header(self, name: Name) -> str | None:
        """The header that a declaration stands in; ``None`` where debug information places it elsewhere."""
        file = self._side.files.get(name, "")
        if file not in self._headers:
            parts = file.split("/")
            ends = ("/".join(parts[place:]) for place in range(len(parts)))
            self._headers[file] = next((each for each in ends if each in self.files), None)
        return self._headers[file]

    def declares_beyond(self, kept: Container[str], name: Name) -> bool:
        """Whether a declaration is known to stand in another header than these."""
        file = self.header(name)
        return file is not None and file not in kept and name in self.names.get(file, ())

    def has_unplaced(self, file: str) -> bool:
        """Whether a header declares functions or variables that are placed elsewhere."""
        placed = sum(each.kind in ("function", "variable") for each in self.names.get(file, ()))
        return self.outline(file).linked > placed


def _is_for_programs(name: Name, shape: object) -> bool:
    """Whether programs use what a header declares, and not the headers alone."""
    if not isinstance(shape, Declared):
        return False
    return shape.replacement is None or not is_own(name, shape.replacement)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
