"""The outcome of a search for a library's debug information, the same for every format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from abistore.extract.facets import FacetReading
from abistore.model.snapshot import Evidence

FileT = TypeVar("FileT")


class DebugSearch(msgspec.Struct, Generic[FileT], frozen=True):
    """The file that describes the library, or a stable reason why there is none.

    ``reason`` is ``no-debug-info`` (none is in the file and nothing tells where else), ``debug-file-missing`` (it was
    split off and is not here), ``stale-debug-file`` (what is here belongs to another build), ``incomplete-debug-info``
    (sections that it needs are absent), ``alternate-file-missing`` (so is what ``dwz`` moved elsewhere),
    ``unreadable-debug-file``, or ``debuginfod-failed``.
    """

    file: FileT | None
    source: str = ""
    reason: str = ""
    detail: str = ""
    hint: str = ""

    def nothing(self, exports: int) -> FacetReading:
        """The layout facet where no file was found; ``exports`` is how many it should describe."""
        return FacetReading(Evidence("layout", "missing", self.reason, self.detail, self.hint, self.source, 0, exports))


def first_found(searches: Iterable[DebugSearch[FileT]], nothing: DebugSearch[FileT]) -> DebugSearch[FileT]:
    """The first search that found a file; else the first that has a reason; else ``nothing``."""
    refused = nothing
    for search in searches:
        if search.file is not None:
            return search
        if search.reason and refused is nothing:
            refused = search
    return refused
