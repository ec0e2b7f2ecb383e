"""The reports of a line's releases, one after the other, each at the cost of what differs from the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.model.history import Release
from abistore.model.judging.engine import ENGINE
from abistore.model.snapshot import Snapshot
from abistore.report.model import Report
from abistore.report.site.timeline import HistoryRow
from abistore.service.history.verdicts import key_of
from abistore.service.judging.judging import concluded, report

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class Reports:
    """Reports of stored verdicts; what could not be stored is judged again."""

    def __init__(self, store: Store, by: Ruling | None) -> None:
        self._store = store
        self._by = by
        self._walk = store.walk()
        self._last: tuple[Release, Snapshot] | None = None

    def key(self, previous: Release | None, row: HistoryRow) -> object:
        """The ruling as a key: what a report depends on beside the releases and the engine."""
        return key_of(self._by, previous, row.release) if previous else None

    def of(self, previous: Release, row: HistoryRow) -> Report:
        """The report about a release and the one before it."""
        before, after = self._at(previous), self._at(row.release)
        given = self._store.find_verdict(previous, row.release, key_of(self._by, previous, row.release), str(ENGINE))
        if given is not None:
            return report(given.comparison, given.churn, (before, after))
        return report(*concluded(before, after, self._by), (before, after))

    def _at(self, release: Release) -> Snapshot:
        """A release's snapshot; the one asked for last is at hand."""
        if self._last is None or self._last[0] != release:
            self._last = release, self._walk.step(release).snapshot
        return self._last[1]
