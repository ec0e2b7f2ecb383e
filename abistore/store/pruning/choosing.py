"""Which stored snapshots are no releases, and which of these something else needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import func, select

from abistore.model.history import LineKey, Release
from abistore.model.labels.promises import is_unreleased
from abistore.model.stores.pruning import PruneReason
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database
from abistore.store.history import findings
from abistore.store.releases import baselines, cards, lines


class Prunable(NamedTuple):
    """A snapshot that is no release, by its row's id, and why."""

    row: int
    release: Release
    reason: PruneReason


def prunable(database: Database, key: LineKey, keep_last: int) -> Iterator[Prunable]:
    """The snapshots of a line that are no releases and that nothing needs, but for the last ones.

    Something needs what a baseline stands at or ever stood at, and what a verdict is about in which somebody accepted
    or reviewed a finding. The newest snapshot always stays: the next one is stored as what differs from it. So does
    what the newest finding was found in: no later finding may get its number.
    """
    rows = cards.by_identifier(database, key)
    ordered = sorted(rows, key=lambda row: rows[row].sequence)
    moves = [each for each in baselines.history(database, key.library) if each.line == key]
    digests, versions = {each.digest for each in moves}, {each.version for each in moves}
    superseded, judged = _superseded(database, ordered), _talked_about(database, key.library)
    for row in ordered[: -max(1, keep_last)]:
        release = rows[row]
        reason = _reason(release, replaced=row in superseded)
        at_baseline = release.digest in digests or (release.version in versions and row not in superseded)
        if reason is not None and not at_baseline and row not in judged:
            yield Prunable(row, release, reason)


def _reason(release: Release, *, replaced: bool) -> PruneReason | None:
    if replaced:
        return "replaced"
    if release.candidate:
        return "candidate"
    return "build" if is_unreleased(release.version) else None


def _superseded(database: Database, rows: list[int]) -> set[int]:
    card = tables.snapshot.c
    found = database.rows(select(card.id).where(card.superseded == 1))
    return {row for (row,) in found} & set(rows)


def _talked_about(database: Database, library: str) -> set[int]:
    """The snapshots that verdicts are about in which somebody said something of a finding."""
    identities = {
        identity
        for table in (tables.approval, tables.review)
        for (identity,) in database.rows(
            select(table.c.identity).select_from(table.join(tables.library)).where(tables.library.c.name == library)
        )
    }
    verdict, finding = tables.verdict.c, tables.finding.c
    sides = select(verdict.old_id, verdict.new_id).select_from(tables.finding.join(tables.verdict))
    newest = select(func.max(finding.id)).scalar_subquery()
    found = {row for each in database.rows(sides.where(finding.id == newest)) for row in each}
    for identity in sorted(identities):
        told = findings.called(database, identity.partition("-")[0])
        found |= {row for each in database.within(sides.where(finding.id.in_(AMONG)), told) for row in each}
    return found


def keys(database: Database, library: str | None) -> list[LineKey]:
    """The lines of a library, or of all."""
    return [line.key for line in lines.every(database) if library in {None, line.key.library}]
