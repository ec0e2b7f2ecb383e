"""Removing builds that nobody needs any more, with all that is only theirs.

What stays keeps its number: a line has gaps. A name stays, as programmers look for it. The shape with the highest id
stays too, as the finding does (:mod:`abistore.store.pruning`): no later row gets an id that another process
remembers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Column, Table, bindparam, delete, func, select, update

from abistore.model.history import LineKey, PruneReason, Release
from abistore.model.versions import is_unreleased
from abistore.store import environments, order, releases, tables, verdicts
from abistore.store.database import AMONG, Database, record
from abistore.store.releases import amend_card
from abistore.store.tables import OPEN


class Prunable(NamedTuple):
    """A snapshot that is no release, by its row's id, and why."""

    row: int
    release: Release
    reason: PruneReason


def prunable(database: Database, key: LineKey, keep_last: int) -> Iterator[Prunable]:
    """The snapshots of a line that are no releases and that nothing needs, but for the last ones.

    Something needs what a baseline stands at or ever stood at, what is recorded in an environment, and what a verdict
    is about in which somebody accepted or reviewed a finding. The newest snapshot always stays: the next one is stored
    as what differs from it. So does what the newest finding was found in: no later finding may get its number.
    """
    rows = releases.by_identifier(database, key)
    ordered = sorted(rows, key=lambda row: rows[row].sequence)
    moves = [each for each in order.history(database, key.library) if each.line == key]
    digests, versions = {each.digest for each in moves}, {each.version for each in moves}
    digests |= {each.digest for one in environments.every(database) for each in one.members if each.line == key}
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
        told = verdicts.called(database, identity.partition("-")[0])
        found |= {row for each in database.within(sides.where(finding.id.in_(AMONG)), told) for row in each}
    return found


def keys(database: Database, library: str | None) -> list[LineKey]:
    """The lines of a library, or of all."""
    return [line.key for line in releases.every(database) if library in {None, line.key.library}]


_CARD, _ENTRY, _SHAPE = tables.snapshot.c, tables.entry.c, tables.shape.c
_VERDICT, _FINDING = tables.verdict.c, tables.finding.c
_SEQUENCES = select(_CARD.line_id, _CARD.sequence).where(_CARD.id.in_(AMONG))
_LEFT = select(_CARD.sequence).where(_CARD.line_id == bindparam("line")).order_by(_CARD.sequence)
_ENTRIES = (
    select(_ENTRY.facet, _ENTRY.name_id, _ENTRY.shape_id, _SHAPE.digest, _ENTRY.first_seq, _ENTRY.last_seq)
    .select_from(tables.entry.join(tables.shape))
    .where(_ENTRY.line_id == bindparam("line"), _ENTRY.last_seq != OPEN)
)
_OF_SNAPSHOTS = select(_VERDICT.id).where(_VERDICT.old_id.in_(AMONG))
_AND_THEIRS = select(_VERDICT.id).where(_VERDICT.new_id.in_(AMONG))
_FIRST_THERE = select(_FINDING.id, _FINDING.key).where(_FINDING.verdict_id.in_(AMONG))
_REMAINING = select(_VERDICT.id).order_by(_VERDICT.id)
_DROP_ENTRY = delete(tables.entry).where(
    _ENTRY.line_id == bindparam("line"),
    _ENTRY.last_seq == bindparam("last"),
    _ENTRY.facet == bindparam("facet_"),
    _ENTRY.name_id == bindparam("name"),
    _ENTRY.shape_id == bindparam("shape_"),
)
_TAKE = (
    update(tables.name)
    .where(tables.name.c.id == bindparam("row"))
    .values(entries=tables.name.c.entries - bindparam("less"))
)
_UNUSED = select(_SHAPE.id).where(
    _SHAPE.id.not_in(select(_ENTRY.shape_id)),
    _SHAPE.id.not_in(select(tables.consumer_type.c.shape_id)),
    _SHAPE.id < select(func.max(_SHAPE.id)).scalar_subquery(),
)
LOCKED = ("line", "snapshot", "location", "name", "shape", "entry", "verdict", "finding")
"""The tables that no other may write meanwhile, in the order in which writers use them."""


def remove(database: Database, rows: Collection[int]) -> None:
    """Remove the snapshots of these rows, within a transaction for which :data:`LOCKED` are held."""
    chosen = sorted(rows)
    for row in chosen:  # what belongs to no release counts in no sum of its line
        amend_card(database, row, {"superseded": 1})
    touched = {line for line, _ in database.within(_SEQUENCES, chosen)}
    _remove_verdicts(database, chosen)
    _drop(database, tables.location, tables.location.c.snapshot_id, chosen)
    _drop(database, tables.snapshot, _CARD.id, chosen)
    for line in sorted(touched):
        _remove_entries(database, line)
    _drop(database, tables.shape, _SHAPE.id, [row for (row,) in database.rows(_UNUSED)])


def _drop(database: Database, table: Table, column: Column[int], rows: Sequence[int]) -> None:
    database.many(delete(table).where(column == bindparam("row")), [{"row": row} for row in rows])


def _remove_verdicts(database: Database, snapshots: Sequence[int]) -> None:
    """Remove the judgements of snapshots, and findings that no other judgement has."""
    gone = sorted({row for each in (_OF_SNAPSHOTS, _AND_THEIRS) for (row,) in database.within(each, snapshots)})
    orphans = {row: bytes(key) for row, key in database.within(_FIRST_THERE, gone)}
    _drop(database, tables.verdict_part, tables.verdict_part.c.verdict_id, gone)
    others = _first_others(database, set(gone), orphans.keys()) if orphans else {}
    verdicts.set_first(database, orphans, others)
    unheld = sorted(orphans.keys() - others.keys())
    _drop(database, tables.consequence, tables.consequence.c.finding_id, unheld)
    _drop(database, tables.finding, _FINDING.id, unheld)
    _drop(database, tables.verdict, _VERDICT.id, gone)


def _first_others(database: Database, gone: Collection[int], wanted: Iterable[int]) -> dict[int, int]:
    """For each wanted finding the first remaining judgement that has it."""
    missing, found = set(wanted), dict[int, int]()
    for (verdict,) in database.rows(_REMAINING):
        if not missing:
            break
        if verdict in gone:
            continue
        parts = verdicts.parts_of(database, verdict)
        held = {row for part in verdicts.LISTS if part in parts for row in verdicts.unpack(parts[part])}
        for row in held & missing:
            found[row] = verdict
        missing -= held
    return found


def _remove_entries(database: Database, line: int) -> None:
    """Remove the entries that hold in no snapshot which the line still has; open ones wait for the next."""
    left = [sequence for (sequence,) in database.rows(_LEFT, {"line": line})]
    less: dict[int, int] = defaultdict(int)
    gone = []
    for facet, name, shape, key, first, last in _of_none(database.rows(_ENTRIES, {"line": line}), left):
        less[name] += tables.entry_seal(line, facet, tables.key(bytes(key)), first, last)
        gone.append({"line": line, "last": last, "facet_": facet, "name": name, "shape_": shape})
    database.many(_DROP_ENTRY, gone)
    database.many(_TAKE, [{"row": name, "less": amount} for name, amount in sorted(less.items())])


def _of_none(
    entries: Iterable[Sequence[object]], left: Sequence[int]
) -> Iterator[tuple[int, int, int, bytes, int, int]]:
    for facet, name, shape, key, first, last in entries:
        assert isinstance(first, int) and isinstance(last, int)
        place = bisect_left(left, first)
        if place == len(left) or left[place] > last:
            yield facet, name, shape, key, first, last  # type: ignore[misc]


def chosen(database: Database, library: str | None, *, keep_last: int, before: datetime | None) -> tuple[Prunable, ...]:
    """What may go of a library, or of all: of each line all but the last, and with ``before`` what was stored by then.

    In the order of libraries, lines and ingestion.
    """
    return tuple(
        each
        for key in keys(database, library)
        for each in prunable(database, key, keep_last)
        if before is None or each.release.ingested < before
    )


def prune(
    database: Database, library: str | None, *, keep_last: int, before: datetime | None, actor: str, reason: str
) -> tuple[Prunable, ...]:
    """Remove what may go, in one transaction, with a record in the audit for each snapshot; what it was."""
    with database.transaction():
        database.hold_tables(LOCKED)
        found = chosen(database, library, keep_last=keep_last, before=before)
        remove(database, [each.row for each in found])
        for each in found:
            release = each.release
            subject = f"{release.reference} ({release.line.target}, {release.line.profile})"
            detail = f"{each.reason}; digest {release.digest} sequence {release.sequence}"
            record(database, actor, "prune", subject, "; ".join(filter(None, (detail, reason))))
    return found
