"""Tags: words that people put on stored releases."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from abistore.model.digest import encode
from abistore.model.history import Release, TaggedRelease
from abistore.model.snapshot import ReleaseTag
from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.releases import cards
from abistore.store.releases.amending import current_release


def add(database: Database, release: Release, tags: Iterable[ReleaseTag], actor: str = "") -> TaggedRelease:
    """Put tags on a release. One that it has stays as it is, with its note."""
    with database.transaction():
        current = current_release(database, release)
        known = {tag.name for tag in current.tags}
        new = {tag.name: tag for tag in tags if tag.name not in known}
        if not new:
            return TaggedRelease(current, changed=False)
        told = "; ".join(f"{tag.name} ({tag.note})" if tag.note else tag.name for tag in new.values())
        return _write(database, current, (*current.tags, *new.values()), (actor, "tag", told))


def take(database: Database, release: Release, name: str, actor: str = "") -> TaggedRelease:
    """Take a tag from a release."""
    with database.transaction():
        current = current_release(database, release)
        left = tuple(tag for tag in current.tags if tag.name != name)
        if left == current.tags:
            return TaggedRelease(current, changed=False)
        return _write(database, current, left, (actor, "untag", name))


def column(tags: Iterable[ReleaseTag]) -> str | None:
    """The tags as the row of a release holds them, sorted; ``None`` where there are none."""
    found = _sorted(tags)
    return encode(found).decode() if found else None


def _sorted(tags: Iterable[ReleaseTag]) -> tuple[ReleaseTag, ...]:
    return tuple(sorted({tag.name: tag for tag in tags}.values(), key=lambda tag: tag.name))


def _write(
    database: Database, release: Release, tags: tuple[ReleaseTag, ...], told: tuple[str, str, str]
) -> TaggedRelease:
    cards.amend(database, cards.identifier(database, release), {"tags": column(tags)})
    actor, action, detail = told
    line = release.line
    record(database, actor, action, f"{release.reference} ({line.target}, {line.profile})", detail)
    return TaggedRelease(msgspec.structs.replace(release, tags=_sorted(tags)), changed=True)
