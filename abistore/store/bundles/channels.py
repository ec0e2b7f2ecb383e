"""Baseline moves of another store, with actor and reason, and conflicts where both sides moved one."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

from abistore.model.history import BaselineMove, LineKey
from abistore.model.stores.merging import Side
from abistore.store.bundles.arriving import Arriving
from abistore.store.bundles.contents import Contents
from abistore.store.database.database import Database
from abistore.store.releases import baselines
from abistore.store.releases.releases import releases

MERGED = "what was brought in moved it too; this side was preferred"


def bring(database: Database, found: Contents, prefer: Side | None, arriving: Arriving) -> tuple[int, list[str]]:
    """Write the moves that are not here: how many these are, and the conflicts."""
    theirs: dict[tuple[LineKey, str], list[BaselineMove]] = defaultdict(list)
    for one in found.moves:
        if one.line < 0 or not one.channel.strip() or not one.channel.isprintable():
            raise ValueError("a move of a baseline is none")
        line, when = found.key(one.line), datetime.fromisoformat(one.moved)
        move = BaselineMove(line, one.channel, one.version, when, one.actor, one.reason, one.digest)
        theirs[line, one.channel].append(move)
    added, conflicts = 0, []
    for (line, channel), moves in theirs.items():
        own = [move for move in baselines.history(database, line.library, channel) if move.line == line]
        new = [move for move in moves if move not in own]
        if not new:
            continue
        here, there = own[-1] if own else None, moves[-1]
        diverged = here is not None and here not in moves and here.version != there.version
        unheld = (line, there.version) in arriving.taken_back
        if prefer is None and (diverged or unheld):
            why = "which was taken back here" if unheld else f"and at {_at(here)} here"
            conflicts.append(f"baseline {channel} of {line} stands at {_at(there)} there, {why}")
            continue
        for move in new:
            baselines.append(database, move)
        added += len(new)
        if prefer == "here" and (diverged or unheld):
            version, digest = (here.version, here.digest) if here else (None, None)
            baselines.append(database, BaselineMove(line, channel, version, datetime.now(UTC), "", MERGED, digest))
    _follow(database, arriving)
    _check(database, theirs, bool(arriving.conflicts))
    return added, conflicts


def _follow(database: Database, arriving: Arriving) -> None:
    """Let channels that stand at a version whose content was replaced stand at the new content."""
    for old, new in arriving.replaced:
        standing = {
            move.channel: move for move in baselines.standing(database, old.line.library) if move.line == old.line
        }
        for channel, move in standing.items():
            if (move.version, move.digest) == (old.version, old.digest):
                reason, now = "its release was replaced by a merge", datetime.now(UTC)
                baselines.append(database, BaselineMove(old.line, channel, new.version, now, "", reason, new.digest))


def _at(move: BaselineMove | None) -> str:
    return (move and move.version) or "nothing"


def _check(database: Database, moved: dict[tuple[LineKey, str], list[BaselineMove]], unresolved: bool) -> None:
    """Raise :class:`ValueError` where a channel stands at what is not stored, unless conflicts kept that out."""
    for line, channel in moved:
        version = baselines.current(database, line, channel)
        stored = {one.version for one in releases(database, line.library, line.target, line.profile)}
        if version is not None and version not in stored and not unresolved:
            raise ValueError(f"baseline {channel} of {line} stands at {version}, which is not stored")
