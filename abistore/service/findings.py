"""Findings of stored comparisons, looked up by their identity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.history import StoredFinding as Found
from abistore.report.declared import declaration_of
from abistore.report.outline import Change, Declared, SideCard, card, change_of
from abistore.service.database import open_store

if TYPE_CHECKING:
    from abistore.store.store import Store


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding in one stored comparison, with the declaration it is about where that tells more."""

    old: SideCard
    new: SideCard
    judged: datetime
    change: Change
    declared: Declared | None


def findings(identity: str, *, database: str | Path | None = None) -> tuple[StoredFinding, ...]:
    """The findings whose identity begins with ``identity``, latest comparison first, each comparison once.

    Raises :class:`SnapshotNotFound` where no stored comparison has one.
    """
    with open_store(database) as store, limits_for(0, "looking for the finding"):
        found: dict[tuple[str, str, str], Found] = {}
        for one in store.findings(identity):
            found.setdefault((one.old.digest, one.new.digest, one.identity), one)
        shown = tuple(_shown(store, one) for one in found.values())
    if not shown:
        raise SnapshotNotFound(
            f"no stored comparison has a finding {identity}", "`abistore verdict REFERENCE -v` shows identities"
        )
    return shown


def _shown(store: Store, one: Found) -> StoredFinding:
    declared = declaration_of(one.finding, *store.load_many([one.old, one.new]))
    return StoredFinding(
        card(one.old.side), card(one.new.side), one.judged, change_of(one.finding, one.identity), declared
    )
