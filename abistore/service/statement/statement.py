"""The statement of a release, over all its lines. Missing verdicts are given and stored."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from abistore.errors import SnapshotNotFound
from abistore.model.cycles import with_cycle_collection
from abistore.model.findings import RulingKey
from abistore.model.judging.statement import ReleaseStatement
from abistore.service.approvals.gate import day, of_library
from abistore.service.database import Database, line_target, using
from abistore.service.history.verdicts import VerdictKeeper
from abistore.service.ledger.lines import folded, lines_at
from abistore.service.statement.lines import StatedFacts, stated_line
from abistore.service.statement.sentence import is_allowed, sentence

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling


def statement(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> ReleaseStatement:
    """What is stated of a version of a library, by default the latest: one sentence, and everything that it rests on.

    It says the same on every day and machine, unless somebody approved something: ``today`` decides what holds.
    ``deprecation`` says for how long what a release removes must have been deprecated. Raises
    :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        meant = lines_at(store, reference, line_target(store, target), profile)
        if not any(meant.releases):
            raise SnapshotNotFound(f"{reference} is no release of a line", f"`abistore list {meant.library}`")
        when = day(today)
        release = folded(store, meant, by, keep=keeper.keep, today=when, deprecation=deprecation)
        facts = StatedFacts(store, keeper, by, when, deprecation)
        lines = tuple(stated_line(facts, row.ledger) for row in release.rows if row.ledger is not None)
        return ReleaseStatement(
            meant.library,
            meant.version,
            sentence(release),
            release.verdict,
            is_allowed(release),
            by.policy.name if by else RulingKey().policy,
            by.policy.file if by else None,
            by.suppressions.files if by else (),
            when if any(of_library(store.approvals(), name) for name in release.libraries) else None,
            lines,
            release,
            str(deprecation) if deprecation else "",
        )
