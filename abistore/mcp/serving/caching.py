"""How long clients of the stateless era may keep what they were told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from abistore.mcp.serving.reading import matched

MINUTE, DAY = 60_000, 86_400_000
"""In milliseconds."""

HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": CacheHint(ttl_ms=MINUTE, scope="public"),
    "prompts/list": CacheHint(ttl_ms=MINUTE, scope="public"),
    "resources/templates/list": CacheHint(ttl_ms=MINUTE, scope="public"),
}
"""Lists that only another version of the server has otherwise."""


async def hint(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let what an address with a digest says be kept for a day, for whoever asked; the rest not at all."""
    result = await call_next(ctx)
    if ctx.method == "resources/read" and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and isinstance(result, dict):
        found = matched(str((ctx.params or {}).get("uri")))
        lasts = found is not None and found[0].lasts
        return {**result, "ttlMs": DAY if lasts else 0, "cacheScope": "private"}
    return result
