"""Taking back a release that was stored wrongly."""

from __future__ import annotations

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import Release
from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.releases.baselines import standing_at
from abistore.store.releases.cards import amend, identifier
from abistore.store.releases.holding import hold_stored
from abistore.store.releases.releases import candidates, releases


def forget(database: Database, release: Release, actor: str = "", reason: str = "") -> None:
    """Take ``release``, or a candidate, out of its line; what is stored of it stays for the audit, as that of a
    replaced one does.

    Raises :class:`UsageError` where a baseline stands at it, :class:`SnapshotNotFound` where it was taken out before.
    """
    line, label = release.line, release.reference
    with database.transaction():
        hold_stored(database, line)
        stored = candidates if release.candidate else releases
        if release not in stored(database, line.library, line.target, line.profile):
            raise SnapshotNotFound(f"{label}: this snapshot was replaced or taken back before")
        channels = () if release.candidate else standing_at(database, release)
        if channels:
            hint = f"move it first: abistore baseline set {line.library}@VERSION --channel {channels[0]}"
            raise UsageError(f"{label}: baseline {channels[0]} stands at it", hint)
        amend(database, identifier(database, release), {"superseded": 1})
        detail = f"digest {release.digest} sequence {release.sequence}"
        subject = f"{label} ({line.target}, {line.profile})"
        record(database, actor, "forget", subject, "; ".join(filter(None, (detail, reason))))
