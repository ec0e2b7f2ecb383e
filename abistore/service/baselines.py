"""Baselines: named channels that point at the release others are judged against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from abistore.model.history import DEFAULT_CHANNEL, BaselineMove, LineKey
from abistore.service.database import line_target, open_store, user
from abistore.service.history import lines_of


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """Where a channel of a line points now; ``version`` is ``None`` after it was cleared."""

    line: LineKey
    channel: str
    version: str | None


def set_baseline(
    reference: str,
    *,
    channel: str = DEFAULT_CHANNEL,
    reason: str = "",
    actor: str = "",
    database: str | Path | None = None,
    target: str | None = None,
    profile: str | None = None,
) -> BaselineChange:
    """Point a channel at a stored release. Raises :class:`SnapshotNotFound`."""
    with open_store(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        store.set_baseline(release.line, channel, release.version, actor or user(), reason)
    return BaselineChange(release.line, channel, release.version)


def clear_baseline(
    library: str,
    *,
    channel: str = DEFAULT_CHANNEL,
    reason: str = "",
    actor: str = "",
    database: str | Path | None = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[BaselineChange, ...]:
    """Clear a channel in every line of a library that is meant. Raises :class:`SnapshotNotFound`."""
    with open_store(database, write=True) as store:
        keys = lines_of(store, library, target, profile)
        for key in keys:
            store.set_baseline(key, channel, None, actor or user(), reason)
    return tuple(BaselineChange(key, channel, None) for key in keys)


def baselines(library: str | None = None, *, database: str | Path | None = None) -> tuple[BaselineMove, ...]:
    """Where every channel points now, with who moved it there."""
    with open_store(database) as store:
        return store.baselines(library)


def baseline_history(
    library: str, *, channel: str | None = None, database: str | Path | None = None
) -> tuple[BaselineMove, ...]:
    """Every move of a library's channels, oldest first."""
    with open_store(database) as store:
        return store.baseline_history(library, channel)
