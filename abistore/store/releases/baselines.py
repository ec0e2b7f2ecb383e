"""Baselines: named channels of a line, and who moved them."""

from __future__ import annotations

from datetime import UTC, datetime

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import BaselineMove, LineKey, Release
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum
from abistore.store.releases import lines
from abistore.store.releases.holding import hold_stored
from abistore.store.releases.releases import releases

_SEALED = (
    *("baseline_move.id", "library.name", "line.target", "line.profile", "baseline_move.channel"),
    *(
        "baseline_move.version",
        "baseline_move.moved",
        "baseline_move.actor",
        "baseline_move.reason",
        "baseline_move.digest",
    ),
)
"""What a move's checksum is of: all columns of its row, and the labels of its line in place of that one's id."""

_COLUMNS = f"{', '.join(_SEALED)}, baseline_move.checksum"


def current(database: Database, line: LineKey, channel: str) -> str | None:
    """The version at which ``channel`` stands; ``None`` where it was never set, or cleared."""
    own = [move for move in history(database, line.library, channel) if move.line == line]
    return own[-1].version if own else None


def standing(database: Database, library: str | None) -> tuple[BaselineMove, ...]:
    """The move that put each channel where it stands, by line and channel; cleared channels are left out."""
    last = {(move.line, move.channel): move for move in _moves(database, library)}
    return tuple(last[key] for key in sorted(last) if last[key].version is not None)


def history(database: Database, library: str, channel: str | None) -> tuple[BaselineMove, ...]:
    """All moves of a library's channels, oldest first."""
    return tuple(move for move in _moves(database, library) if channel in {None, move.channel})


def standing_at(database: Database, release: Release) -> tuple[str, ...]:
    """The channels that stand at a release, sorted."""
    moves = standing(database, release.line.library)
    return tuple(move.channel for move in moves if (move.line, move.version) == (release.line, release.version))


def follow(database: Database, old: Release, new: Release, *, actor: str, reason: str) -> None:
    """Note that the channels which stood at ``old`` stand at ``new``, which replaced it under its version."""
    for channel in standing_at(database, old):
        _write(database, BaselineMove(old.line, channel, new.version, datetime.now(UTC), actor, reason, new.digest))
        detail = f"{new.version}; digest {new.digest}; was {old.version}; digest {old.digest}; {reason}"
        record(database, actor, "baseline", f"{old.line} {channel}", detail)


def move(
    database: Database, line: LineKey, channel: str, version: str | None, *, actor: str, reason: str
) -> BaselineMove:
    """Put ``channel`` at ``version``, or clear it; a no-op that returns the earlier move where it stands there.

    Raises :class:`SnapshotNotFound` where the line has no such release, or no such channel to clear.
    """
    if not channel or channel != channel.strip() or not channel.isprintable():
        raise UsageError(f"not a name for a channel: {channel!r}", "give a word such as release or main")
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
        _write(database, BaselineMove(line, channel, version, datetime.now(UTC), actor, reason, digest))
        detail = "; ".join(filter(None, (version or "-", f"was {before or '-'}", reason)))
        record(database, actor, "baseline", f"{line} {channel}", detail)
        return [m for m in history(database, line.library, channel) if m.line == line][-1]


def _write(database: Database, move: BaselineMove) -> None:
    line = move.line
    condition = "library.name = ? AND line.target = ? AND line.profile = ?"
    statement = f"SELECT line.id FROM line JOIN library ON library.id = line.library_id WHERE {condition}"
    ((line_id,),) = database.rows(statement, (line.library, line.target, line.profile))
    digest = bytes.fromhex(move.digest) if move.digest is not None else None
    values = (move.channel, move.version, stamp(move.moved), move.actor, move.reason, digest)
    statement = (
        "INSERT INTO baseline_move (line_id, channel, version, moved, actor, reason, digest, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
    )
    identifier = database.insert(statement, (line_id, *values))
    seal = checksum(identifier, line.library, line.target, line.profile, *values)
    database.run("UPDATE baseline_move SET checksum = ? WHERE id = ?", (seal, identifier))
    lines.add(database, line_id, {"moves": seal})


def _moves(database: Database, library: str | None) -> list[BaselineMove]:
    """All moves of a library's channels, or of all libraries, oldest first.

    Raises :class:`StoreError` where one is damaged or missing.
    """
    statement = (
        f"SELECT {lines.COLUMNS}, {_COLUMNS} FROM {lines.SOURCES} LEFT JOIN baseline_move "
        f"ON baseline_move.line_id = line.id{' WHERE library.name = ?' if library else ''} ORDER BY baseline_move.id"
    )
    if library:
        rows = lines.named(database, statement, (library,), library)
    else:
        rows = database.rows(statement)
        lines.every(database)  # tells a missing library
    moves = []
    sums: dict[LineKey, int] = {}
    for row in rows:
        *values, seal = row[lines.WIDTH :]
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
