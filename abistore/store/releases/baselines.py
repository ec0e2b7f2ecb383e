"""Baselines: named channels of a line, and who moved them."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import bindparam, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.model.history import BaselineMove, LineKey, Release
from abistore.model.labels.naming import check_name
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum
from abistore.store.releases import lines
from abistore.store.releases.holding import hold_stored
from abistore.store.releases.releases import releases

_MOVE, _LINE, _LIBRARY = tables.baseline_move.c, tables.line.c, tables.library.c
_SEALED = (
    *(_MOVE.id, _LIBRARY.name, _LINE.target, _LINE.profile),
    *(_MOVE.channel, _MOVE.version, _MOVE.moved, _MOVE.actor, _MOVE.reason, _MOVE.digest),
)
"""What a move's checksum is of: all columns of its row, and the labels of its line in place of that one's id."""

_MOVES = (
    select(*lines.COLUMNS, *_SEALED, _MOVE.checksum)
    .select_from(lines.SOURCES.outerjoin(tables.baseline_move))
    .order_by(_MOVE.id)
)
_MOVES_OF_LIBRARY = _MOVES.where(lines.OF_LIBRARY)
_LINE_ID = select(_LINE.id).select_from(tables.line.join(tables.library)).where(lines.OF_LINE)
_INSERT = insert(tables.baseline_move)
_UPDATE = update(tables.baseline_move).where(_MOVE.id == bindparam("identifier"))


def current(database: Database, line: LineKey, channel: str) -> str | None:
    """The version at which ``channel`` stands; ``None`` where it was never set, or cleared."""
    own = [move for move in history(database, line.library, channel) if move.line == line]
    return own[-1].version if own else None


def standing(database: Database, library: str | None = None) -> tuple[BaselineMove, ...]:
    """The move that put each channel where it stands, by line and channel; cleared channels are left out."""
    last = {(move.line, move.channel): move for move in _moves(database, library)}
    return tuple(last[key] for key in sorted(last) if last[key].version is not None)


def history(database: Database, library: str, channel: str | None = None) -> tuple[BaselineMove, ...]:
    """All moves of a library's channels, oldest first."""
    return tuple(move for move in _moves(database, library) if channel in {None, move.channel})


def standing_at(database: Database, release: Release) -> tuple[str, ...]:
    """The channels that stand at a release, sorted."""
    moves = standing(database, release.line.library)
    return tuple(move.channel for move in moves if (move.line, move.version) == (release.line, release.version))


def follow(database: Database, old: Release, new: Release, *, actor: str, reason: str) -> None:
    """Note that the channels which stood at ``old`` stand at ``new``, which replaced it under its version."""
    for channel in standing_at(database, old):
        append(database, BaselineMove(old.line, channel, new.version, datetime.now(UTC), actor, reason, new.digest))
        detail = f"{new.version}; digest {new.digest}; was {old.version}; digest {old.digest}; {reason}"
        record(database, actor, "baseline", f"{old.line} {channel}", detail)


def move(
    database: Database, line: LineKey, channel: str, version: str | None, *, actor: str = "", reason: str = ""
) -> BaselineMove:
    """Put ``channel`` at ``version``, or clear it; a no-op that returns the earlier move where it stands there.

    Raises :class:`SnapshotNotFound` where the line has no such release, or no such channel to clear.
    """
    if version is not None:
        check_name("channel", channel)
    with database.transaction():
        hold_stored(database, line)
        stored = {one.version: one for one in releases(database, line.library, line.target, line.profile)}
        if not stored or (version is not None and version not in stored):
            raise SnapshotNotFound(
                f"{line}: no release {version or ''}".rstrip(), f"stored: {', '.join(stored) or 'none'}"
            )
        moves = [m for m in history(database, line.library, channel) if m.line == line]
        before = moves[-1].version if moves else None
        if before == version:
            if version is None:
                raise SnapshotNotFound(f"{line}: channel {channel} is not set")
            return moves[-1]
        digest = stored[version].digest if version is not None else None
        append(database, BaselineMove(line, channel, version, datetime.now(UTC), actor, reason, digest))
        detail = "; ".join(filter(None, (version or "-", f"was {before or '-'}", reason)))
        record(database, actor, "baseline", f"{line} {channel}", detail)
        return [m for m in history(database, line.library, channel) if m.line == line][-1]


def append(database: Database, move: BaselineMove) -> None:
    """Write a move, wherever the channel stood before."""
    line = move.line
    ((line_id,),) = database.rows(_LINE_ID, lines.labels(line))
    values = {
        "channel": move.channel,
        "version": move.version,
        "moved": stamp(move.moved),
        "actor": move.actor,
        "reason": move.reason,
        "digest": bytes.fromhex(move.digest) if move.digest is not None else None,
    }
    identifier = database.insert(_INSERT, {"line_id": line_id, **values, "checksum": 0})
    seal = checksum(identifier, line.library, line.target, line.profile, *values.values())
    database.run(_UPDATE.values(checksum=seal), {"identifier": identifier})
    lines.add(database, line_id, {"moves": seal})


def _moves(database: Database, library: str | None) -> list[BaselineMove]:
    """All moves of a library's channels, or of all libraries, oldest first.

    Raises :class:`StoreError` where one is damaged or missing.
    """
    if library:
        rows = lines.named(database, _MOVES_OF_LIBRARY, library)
    else:
        rows = database.rows(_MOVES)
        lines.every(database)  # tells a missing library
    moves = []
    sums: dict[LineKey, int] = {}
    for row in rows:
        *values, seal = row[len(lines.COLUMNS) :]
        if values[0] is not None:
            if checksum(*values) != seal:
                raise damaged(database.where, f"a move of baseline {values[4]} of {LineKey(*values[1:4])}")
            moves.append(_move(values))
            sums[moves[-1].line] = sums.get(moves[-1].line, 0) + seal
    for line in lines.verified(database, rows):
        if line.moves != sums.get(line.key, 0):
            raise damaged(database.where, f"a move of a baseline of {line.key} is missing")
    return moves


def _move(values: Row) -> BaselineMove:
    _, library, target, profile, channel, version, moved, actor, reason, digest = values
    line, when = LineKey(library, target, profile), datetime.fromisoformat(moved)
    return BaselineMove(line, channel, version, when, actor, reason, digest.hex() if digest is not None else None)
