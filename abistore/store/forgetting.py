"""Taking back a release that was stored wrongly."""

from __future__ import annotations

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import Release
from abistore.store.audit import record
from abistore.store.baselines import standing
from abistore.store.database import Database
from abistore.store.releases import releases


def forget(database: Database, release: Release, actor: str, reason: str) -> None:
    """Take ``release`` out of its line; what is stored of it stays for the audit, as that of a replaced one does.

    Raises :class:`UsageError` where a baseline stands at it, :class:`SnapshotNotFound` where it was taken out before.
    """
    line, label = release.line, f"{release.line.library}@{release.version}"
    with database.transaction():
        if release not in releases(database, line.library, line.target, line.profile):
            raise SnapshotNotFound(f"{label}: this snapshot was replaced or taken back before")
        moves = standing(database, line.library)
        channels = [move.channel for move in moves if (move.line, move.version) == (line, release.version)]
        if channels:
            hint = f"move it first: abistore baseline set {line.library}@VERSION --channel {channels[0]}"
            raise UsageError(f"{label}: baseline {channels[0]} stands at it", hint)
        statement = (
            "UPDATE snapshot SET superseded = 1 WHERE sequence = ? AND line_id = "
            "(SELECT line.id FROM line JOIN library ON library.id = line.library_id "
            "WHERE library.name = ? AND line.target = ? AND line.profile = ?)"
        )
        database.run(statement, (release.sequence, line.library, line.target, line.profile))
        detail = f"digest {release.digest} sequence {release.sequence}"
        subject = f"{label} ({line.target}, {line.profile})"
        record(database, actor, "forget", subject, "; ".join(filter(None, (detail, reason))))
