"""Reads public headers as the `source` facet of a binary's snapshot."""

from __future__ import annotations

from collections.abc import Callable

from abistore.extract.facets import FacetReading
from abistore.extract.headers.apart import LIMITS, HeaderLimits, read_apart
from abistore.extract.headers.options import NO_EDITS, HeaderEdits, HeaderOptions
from abistore.model.snapshot import Target


def read_headers(
    options: HeaderOptions,
    target: Target,
    progress: Callable[[str, float], None] | None = None,
    *,
    cpp_exports: bool = False,
    runtime: bool = False,
    edits: HeaderEdits = NO_EDITS,
    limits: HeaderLimits = LIMITS,
) -> FacetReading:
    """What the headers declare to consumers on ``target``.

    ``cpp_exports`` tells that the library exports C++ symbols: headers that both languages can read are C++ then.
    ``runtime`` tells that it is the C++ runtime itself. ``edits`` are read in place of what is on disk.
    Raises :class:`HeaderError` where nothing can be read, and :class:`LimitExceeded`.
    """
    if progress:
        progress("headers", 0.95)
    reading = read_apart(options, target, cpp_exports=cpp_exports, runtime=runtime, edits=edits, limits=limits)
    return FacetReading(reading.evidence, dict(reading.entries), dict(reading.locations), headers=reading.read)
