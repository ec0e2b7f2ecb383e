"""``abi_list`` and ``abi_store_stats``: what is stored, how much, and the bounds in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from abistore.interface import ListedLine, OpenStore, Release, StoreStats, db_stats
from abistore.mcp.answers.answer import Answer, asking
from abistore.mcp.call import Call
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Cursor, Library, Limit, described
from abistore.model.words.counting import counted

BUDGET = 800

SURFACE = 1
"""Raised when a tool, an argument or a URI changes its meaning or goes; what is added does not count."""


class StoredItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A library's line, or one release of a library; ``baselines`` maps channels to versions."""

    library: str
    version: str | None = None
    target: str
    profile: str
    released_at: str | None = None
    soname: str | None = None
    exports: int | None = None
    digest: str | None = None
    candidate: bool = False
    tags: tuple[str, ...] = ()
    releases: int | None = None
    first: str | None = None
    latest: str | None = None
    baselines: Mapping[str, str] = {}


class Stored(Answer, frozen=True, kw_only=True):
    """A page of what is stored; ``total`` counts all of it."""

    items: tuple[StoredItem, ...]
    total: int
    returned: int
    next_cursor: str | None = None
    next: tuple[str, ...] = ()


@tool()
def abi_list(
    call: Call,
    *,
    library: Library | None = None,
    prefix: Annotated[str | None, described("Beginning of names, or of versions")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Stored:
    """List what is stored: all libraries, or the releases of one library. Start here.

    abi_history has the verdicts.
    """
    with call.store() as store:
        items = _releases(store, library) if library else _lines(store)
    shown = [item for item in items if (item.version or item.library).startswith(prefix or "")]
    page = call.page(shown, budget=BUDGET)
    kept = sum(item.candidate for item in shown)
    and_kept = f" and {counted(kept, 'candidate')}" if kept else ""
    what = f"{counted(len(shown) - kept, 'release')}{and_kept} of {library}" if library else counted(len(shown), "line")
    return Stored(
        headline=f"{what} stored",
        items=page.items,
        total=len(shown),
        returned=len(page.items),
        next_cursor=page.next_cursor,
        next=_next(library, shown),
    )


def _next(library: str | None, shown: list[StoredItem]) -> tuple[str, ...]:
    if kept := [item.version for item in shown if item.candidate]:  # each failed its gate
        refused = f"{library}@candidate:{kept[-1]}"
        return (
            asking("abi_history", library=library),
            asking("abi_compare", old_input=f"{library}@latest", new_input=refused),
        )
    if library:
        return (asking("abi_history", library=library), asking("abi_summary", library=library))
    return (asking("abi_list", library=shown[0].library),) if shown else (asking("abi_help", topic="workflow"),)


def _lines(store: OpenStore) -> list[StoredItem]:
    return [_line(listed) for listed in store.lines()]


def _line(listed: ListedLine) -> StoredItem:
    return StoredItem(
        library=listed.line.library,
        target=listed.line.target,
        profile=listed.line.profile,
        releases=listed.releases,
        first=listed.first or None,
        latest=listed.latest or None,
        baselines=dict(sorted(listed.baselines.items())),
    )


def _releases(store: OpenStore, library: str) -> list[StoredItem]:
    return [_release(release) for release in store.releases(library)]


def _release(release: Release) -> StoredItem:
    return StoredItem(
        library=release.line.library,
        version=release.version,
        target=release.line.target,
        profile=release.line.profile,
        released_at=f"{release.released or release.ingested:%Y-%m-%d}",
        soname=release.soname,
        exports=release.exports,
        digest=release.digest[:12],
        candidate=release.candidate,
        tags=tuple(tag.name for tag in release.tags),
    )


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
    """Tell how much the store holds, its schema, and the limits of each call."""
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
