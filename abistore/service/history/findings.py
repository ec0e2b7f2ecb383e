"""Findings of stored comparisons, looked up by their identity or place."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.limits import limits_for
from abistore.model.findings import Side
from abistore.model.history import Sighting
from abistore.model.judging.identity import is_whole
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


class MeantFinding(NamedTuple):
    """The finding that digits mean, in a library; ``sighting`` is ``None`` where no stored comparison has it."""

    library: str
    identity: str
    sighting: Sighting | None


def meant(store: Store, digits: str, library: str | None) -> MeantFinding:
    """The one finding whose identity begins with ``digits``. A whole one of a named library need not be stored.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    sightings, more = store.findings(digits, SHOWN)
    found = {(one.new.line.library, one.identity): one for one in reversed(sightings)}
    found = {key: one for key, one in found.items() if library in {None, key[0]}}
    if library is not None and is_whole(digits):
        return MeantFinding(library, digits, found.get((library, digits)))
    if len(found) == 1 and not more:
        ((where, whole),) = found
        return MeantFinding(where, whole, found[where, whole])
    if not found:
        raise SnapshotNotFound(
            f"no stored comparison has a finding {digits}",
            "`abistore verdict REFERENCE -v` shows identities; a whole one needs --library only",
        )
    listed = ", ".join(f"{whole} of {where}" for where, whole in sorted(found)[:3])
    raise UsageError(f"{digits}: several findings begin so", f"give more digits, or --library: {listed}")
