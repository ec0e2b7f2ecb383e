"""Public headers that no longer include others, and the sources that miss them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import Final

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.headers import chosen_otherwise
from abistore.diffing.kinds.constants import is_own
from abistore.diffing.side import SideFacts
from abistore.model.declarations import Declared, Name
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


def _is_for_programs(name: Name, shape: object) -> bool:
    """Whether programs use what a header declares, and not the headers alone."""
    if not isinstance(shape, Declared):
        return False
    return shape.replacement is None or not is_own(name, shape.replacement)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


class LostHeaders(msgspec.Struct, frozen=True):
    """The ``headers`` that a header brings along no longer, and what of them sources are known to miss."""

    headers: tuple[str, ...]
    names: tuple[Name, ...]


def lost_everywhere(file: str, context: Context) -> LostHeaders | None:
    """What no header that sources begin with has any more, and one that stands for the library had by this one."""
    losses = context.once(_losses)
    return _joined({each: names for each, names in losses.own(file).items() if losses.reaches_none(file, each)})


def lost_here(file: str, context: Context) -> LostHeaders | None:
    """What this header brings along no longer besides."""
    losses = context.once(_losses)
    return _joined({each: names for each, names in losses.own(file).items() if not losses.reaches_none(file, each)})


def _joined(found: Mapping[str, Iterable[Name]]) -> LostHeaders | None:
    names = sorted(name for each in found.values() for name in each)
    return LostHeaders(tuple(sorted(found)), tuple(names)) if found else None


def _losses(context: Context) -> _Losses:
    asked = chosen_otherwise(context)
    return _Losses(_graph(context.old), _graph(context.new), asked.files if asked else frozenset())


def _graph(side: SideFacts) -> IncludeGraph:
    read = side.snapshot.provenance.headers
    return IncludeGraph(side, read if isinstance(read, HeadersRead) else HeadersRead())


class _Losses:
    """What is missed behind each header that both sides have.

    A header in which a condition was answered otherwise is ``left_out``: what it includes depends on how it was read.
    """

    def __init__(self, old: IncludeGraph, new: IncludeGraph, left_out: Container[str]) -> None:
        self._old, self._new, self._left_out = old, new, left_out
        self._shared = old.files & new.files
        self.of, self.own, self.reaches_none = cache(self._of), cache(self._own), cache(self._reaches_none)

    def _own(self, file: str) -> dict[str, Collection[Name]]:
        """What is missed behind a header, without what is missed behind one that it includes as before."""
        if file in self._left_out:
            return {}
        old, new = self._old, self._new
        kept = (old.reached(file) & new.reached(file) & self._shared) - {file}
        others = {header for each in kept if file not in old.reached(each) for header in self.of(each)}
        return {header: names for header, names in self.of(file).items() if header not in others}

    def _reaches_none(self, file: str, header: str) -> bool:
        """Whether sources lose a header that they had by a main one: none with which they may begin has it any more."""
        old = self._old
        entries = old.with_header(header) & old.entries & self._shared
        is_main = any(file in old.reached(each) for each in entries & old.main)
        return is_main and all(header in self.of(each) for each in entries)

    def _of(self, file: str) -> dict[str, Collection[Name]]:
        """The headers of both releases that one brings along no longer, each with what is known to be missed of it.

        Nothing is missed of a header whose declarations come by others.
        """
        old, new = self._old, self._new
        kept, found = new.reached(file), dict[str, Collection[Name]]()
        for each in (old.reached(file) & new.files) - kept:
            missing = [name for name in old.names.get(each, ()) if new.declares_beyond(kept, name)]
            if missing:
                found[each] = missing
        return found
