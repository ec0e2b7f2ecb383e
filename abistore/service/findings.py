"""Findings of stored comparisons, looked up by their identity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from abistore.errors import SnapshotNotFound
from abistore.report.json import read
from abistore.report.outline import Change, Declared, Report, SideCard, every
from abistore.service.database import open_store


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
    wanted = f'"id":"{identity}'.encode()
    found: dict[tuple[str, str, str], StoredFinding] = {}
    with open_store(database) as store:
        for verdict in store.verdicts_mentioning(wanted):
            report = read(verdict.comparison)
            for one in _found(report, identity, verdict.judged) if report else ():
                found.setdefault((one.old.digest, one.new.digest, one.change.id), one)
    if not found:
        raise SnapshotNotFound(
            f"no stored comparison has a finding {identity}", "`abistore verdict REFERENCE -v` shows identities"
        )
    return tuple(found.values())


def _found(report: Report, identity: str, judged: datetime) -> Iterator[StoredFinding]:
    for change in every((*report.changes, *report.suppressed)):
        if change.id.startswith(identity):
            key = (change.subject, change.symbol)
            declared = next((each for each in report.declarations if (each.subject, each.symbol) == key), None)
            yield StoredFinding(report.old, report.new, judged, change, declared)
