"""``abi_store_stats``: how much is stored, and the bounds in force."""

from __future__ import annotations

import msgspec

from abistore.interface import StoreStats, db_stats
from abistore.mcp.answers.answer import Answer, asking
from abistore.mcp.call import Call
from abistore.mcp.tools.declaration import tool
from abistore.model.words.counting import counted

SURFACE = 1
"""Raised when a tool, an argument or a URI changes its meaning or goes; what is added does not count."""


class BoundsInForce(msgspec.Struct, frozen=True):
    """What one call may take."""

    timeout: float
    max_file_size: int
    max_memory: int
    max_concurrency: int
    max_response_units: int
    history_limit: int


class StatsAnswer(Answer, frozen=True, kw_only=True):
    """How much the store holds, and the settings of the server."""

    surface_version: int
    allow_write: bool
    store: StoreStats
    limits: BoundsInForce
    next: tuple[str, ...] = ()


@tool()
def abi_store_stats(call: Call) -> StatsAnswer:
    """Tell how much the store holds (libraries, releases, verdicts, bytes), its schema, and the limits of each call."""
    with call.store() as store:
        stats = db_stats(database=store)
    settings = call.settings
    return StatsAnswer(
        headline=f"{counted(stats.releases, 'release')} of {counted(stats.libraries, 'library', 'libraries')} stored",
        surface_version=SURFACE,
        allow_write=settings.allow_write,
        store=stats,
        limits=BoundsInForce(**{name: getattr(settings, name) for name in BoundsInForce.__struct_fields__}),
        next=(asking("abi_list"),),
    )
