"""Findings of stored comparisons, looked up by their identity or place."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.findings import Side
from abistore.model.history import Sighting
from abistore.report.declarations import declaration_of
from abistore.report.model import ComparedDeclaration, ReportedFinding
from abistore.report.outline import reported
from abistore.service.database import Database, using

if TYPE_CHECKING:
    from abistore.store.store import Store

SHOWN = 10
"""How many findings are shown: a declaration that changes in every release has one place and many findings."""


class StoredFinding(msgspec.Struct, frozen=True):
    """A finding in one stored comparison, with its declaration before and after, if that tells more."""

    old: Side
    new: Side
    judged: datetime
    change: ReportedFinding
    declared: ComparedDeclaration | None


class StoredFindings(msgspec.Struct, frozen=True):
    """The stored findings of one identity, newest first; ``more`` are left out."""

    findings: tuple[StoredFinding, ...]
    more: int


def findings(identity: str, *, database: Database = None) -> StoredFindings:
    """The findings whose identity begins with ``identity``, each in the comparison that found it first.

    Raises :class:`SnapshotNotFound` if no stored comparison has one.
    """
    with using(database) as store, limits_for(0, "looking for the finding"):
        found, more = store.findings(identity, SHOWN)
        shown = tuple(_shown(store, one) for one in found)
    if not shown:
        raise SnapshotNotFound(
            f"no stored comparison has a finding {identity}", "`abistore verdict REFERENCE -v` shows identities"
        )
    return StoredFindings(shown, more)


def _shown(store: Store, one: Sighting) -> StoredFinding:
    declared = declaration_of(one.finding, *store.load_many([one.old, one.new]))
    return StoredFinding(one.old.side, one.new.side, one.judged, reported(one.finding, one.identity), declared)
