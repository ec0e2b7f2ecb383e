"""What sources miss that include one public header, since it brings other public headers along no longer."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from functools import cache

import msgspec

from abistore.compare.classify.inclusions.graph import IncludeGraph
from abistore.compare.context import Context
from abistore.compare.diff.headers.asked_otherwise import chosen_otherwise
from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.snapshot import HeadersRead


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

        Nothing is missed of a header whose declarations come by others. Functions that debug information places in
        sources may have gone with the header.
        """
        old, new = self._old, self._new
        kept, found = new.reached(file), dict[str, Collection[Name]]()
        for each in (old.reached(file) & new.files) - kept:
            missing = [name for name in old.names.get(each, ()) if new.declares_beyond(kept, name)]
            if missing or (old.has_unplaced(each) and new.has_unplaced(each)):
                found[each] = missing
        return found
