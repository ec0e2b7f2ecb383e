"""Mending what people said about a stored release: its day, its source revision, its CI job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.model.history import Amendment, Release, ReleaseFacts
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database
from abistore.store.releases import cards
from abistore.store.releases.holding import hold_stored

FACTS: tuple[str, ...] = ReleaseFacts.__struct_fields__


def supplement(database: Database, release: Release, said: ReleaseFacts, actor: str = "") -> Amendment:
    """Fill the empty facts of ``release``: day, revision, CI job. A fact with another value stays."""
    given = _given(said)
    if all(getattr(release, fact) == value for fact, value in given.items()):
        return Amendment(release, _said(release))
    with database.transaction():
        current = current_release(database, release)
        kept = [fact for fact in given if getattr(current, fact) not in (None, given[fact])]
        changes = {fact: value for fact, value in given.items() if fact not in kept}
        return _amended(database, current, changes, kept=tuple(kept), actor=actor)


def amend(
    database: Database, release: Release, said: ReleaseFacts, *, clear: Sequence[str] = (), actor: str, reason: str
) -> Amendment:
    """Say something else about ``release``, and of ``clear`` nothing any more."""
    given = _given(said)
    with database.transaction():
        current = current_release(database, release)
        return _amended(database, current, given | dict.fromkeys(clear), actor=actor, reason=reason)


def _amended(
    database: Database,
    release: Release,
    wanted: Mapping[str, Any],
    *,
    kept: tuple[str, ...] = (),
    actor: str,
    reason: str = "",
) -> Amendment:
    """Write those of the ``wanted`` facts that are news, with a record of what was before."""
    changes = {fact: wanted[fact] for fact in FACTS if fact in wanted and wanted[fact] != getattr(release, fact)}
    if not changes:
        return Amendment(release, _said(release), kept=kept)
    columns = {fact: _column(value) for fact, value in changes.items()}
    cards.amend(database, cards.identifier(database, release), columns)
    told = [f"{fact} {_shown(value)}, was {_shown(getattr(release, fact))}" for fact, value in changes.items()]
    line = release.line
    subject = f"{line.library}@{release.version} ({line.target}, {line.profile})"
    record(database, actor, "edit", subject, "; ".join(filter(None, (*told, reason))))
    return Amendment(msgspec.structs.replace(release, **changes), _said(release), tuple(changes), kept)


def current_release(database: Database, release: Release) -> Release:
    """The release as it stands now, while no other session can change it."""
    line = release.line
    hold_stored(database, line)
    found = cards.by_identifier(database, line).values()
    for current in found:
        if current.sequence == release.sequence:
            return current
    raise SnapshotNotFound(f"{line.library}@{release.version}: not in {database.where}")


def _given(said: ReleaseFacts) -> dict[str, Any]:
    """The facts that are said, each as the store would give it back."""
    released = datetime.fromisoformat(stamp(said.released)) if said.released else None
    facts = msgspec.structs.asdict(msgspec.structs.replace(said, released=released))
    return {fact: value for fact, value in facts.items() if value}


def _said(release: Release) -> ReleaseFacts:
    return ReleaseFacts(release.released, release.revision, release.url)


def _column(value: object) -> object:
    return stamp(value) if isinstance(value, datetime) else value


def _shown(value: object) -> str:
    return "-" if value is None else str(_column(value))
