"""Every resource by its name, in the order in which addresses are tried."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.mcp.resources import comparisons, history, libraries, pages
from abistore.mcp.resources.declaration import ReadableResource

RESOURCES: Mapping[str, ReadableResource] = {
    found.name: found
    for room in (libraries, history, comparisons, pages)
    for found in vars(room).values()
    if isinstance(found, ReadableResource)
}
