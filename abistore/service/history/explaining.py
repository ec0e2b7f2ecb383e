"""Findings of stored comparisons by their identity or place, with what people say of them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from abistore.limits import limits_for
from abistore.model.findings import Side
from abistore.model.history import Sighting
from abistore.report.declarations import declaration_of
from abistore.report.model import ComparedDeclaration, ReportedFinding
from abistore.report.outline import reported
from abistore.service.approvals.gate import finding_with_said
from abistore.service.database import Database, using
from abistore.service.history.findings import SHOWN, unknown

if TYPE_CHECKING:
    from abistore.store.store import Store


class StoredFinding(msgspec.Struct, frozen=True):
    """A finding in one stored comparison, with its declaration before and after, if that tells more.

    ``change`` has what people say of it: whether it is approved today, by whom and until when, and its review.
    """

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

    Raises :class:`SnapshotNotFound` if no comparison of this store has one: those that others brought answer nobody.
    """
    with using(database) as store, limits_for(0, "looking for the finding"):
        found, more = store.findings(identity, SHOWN)
        if not found:
            raise unknown(store, identity)
        return StoredFindings(tuple(_shown(store, one) for one in found), more)


def _shown(store: Store, one: Sighting) -> StoredFinding:
    declared = declaration_of(one.finding, *store.load_many([one.old, one.new]))
    change = finding_with_said(store, reported(one.finding, one.identity), one.old, one.new)
    return StoredFinding(one.old.side, one.new.side, one.judged, change, declared)
