"""Removing snapshots with their entries, locations, verdicts, findings and shapes, as far as nothing else has these.

What stays keeps its number: a line has gaps. A name stays, as programmers look for it. The shape with the highest id
stays too, as the finding does (:mod:`abistore.store.pruning.choosing`): no later row gets an id that another process
remembers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlalchemy import Column, Table, bindparam, delete, func, select, update

from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.tables import OPEN
from abistore.store.history import findings, verdicts
from abistore.store.releases.cards import amend

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
        amend(database, row, {"superseded": 1})
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
    findings.set_first(database, orphans, others)
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
        held = {row for part in verdicts.LISTS if part in parts for row in findings.unpack(parts[part])}
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
        less[name] += seals.entry(line, facet, seals.key(bytes(key)), first, last)
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
