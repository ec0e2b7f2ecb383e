"""Stored findings by what they are called: each in the judgement that had it first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import select

from abistore.model.findings import Finding, order
from abistore.model.history import Release, Sighting
from abistore.model.judging.identity import IDENTITY_SIZE, identified, may_begin
from abistore.store.database import tables
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.history import findings
from abistore.store.history.verdicts import LISTS, parts_of
from abistore.store.releases import cards
from abistore.store.snapshots.memory import RowMemory
from abistore.store.snapshots.read import places

_VERDICT = tables.verdict.c
_JUDGED = select(_VERDICT.id, _VERDICT.old_id, _VERDICT.new_id, _VERDICT.judged, _VERDICT.brought)


def sightings(database: Database, called: str, most: int, memory: RowMemory) -> tuple[tuple[Sighting, ...], int]:
    """The findings, and consequences, whose identity begins with ``called``: what was found last comes first.

    At most ``most``, and how many rows hold more of them. What is no beginning of an identity finds nothing, nor does
    what only other stores found: their judgements answer nobody here.
    """
    if not may_begin(called):
        return (), 0
    beginning, _, number = called.partition("-")
    rows = findings.called(database, beginning)
    found: dict[Finding, Sighting] = {}
    for position, row in enumerate(rows):
        if len(found) >= most:
            return _placed(database, found.values(), memory), len(rows) - position
        for one in _sighted(database, row):
            identity, _, own = one.identity.partition("-")
            if identity.startswith(beginning) and number in {"", own}:
                found.setdefault(one.finding, one)
    return _placed(database, found.values(), memory), 0


def elsewhere(database: Database, called: str) -> tuple[Release, Release] | None:
    """The sides of a comparison in which another store found what is called so, and this one did not."""
    rows = findings.called(database, called.partition("-")[0]) if may_begin(called) else []
    for row in rows:
        first = _first(database, row)
        if first.brought is not None:
            return _release(database, first.old_id), _release(database, first.new_id)
    return None


class _Judged(NamedTuple):
    """The row of a judgement."""

    id: int
    old_id: int
    new_id: int
    judged: str
    brought: int | None


def _placed(database: Database, found: Iterable[Sighting], memory: RowMemory) -> tuple[Sighting, ...]:
    """``found`` with where the declarations stand."""
    places_of = cache(lambda side: places(database, side, memory))
    return tuple(
        replace(one, finding=findings.placed(one.finding, places_of(one.old), places_of(one.new))) for one in found
    )


def _sighted(database: Database, row: int) -> Iterator[Sighting]:
    """The finding of one row and what follows from it; nothing where another store alone found it."""
    first = _first(database, row)
    if first.brought is not None:
        return
    ((key,),) = database.rows(select(tables.finding.c.key).where(tables.finding.c.id == row))
    namesakes = findings.read(database, _namesakes(database, first.id, row, key))
    old, new = (_release(database, side) for side in (first.old_id, first.new_id))
    if row not in namesakes:
        raise damaged(database.where, f"verdict {first.id} does not have finding {row}")
    same = sorted(namesakes.values(), key=order)
    own = [(identity, each) for identity, each in identified(same) if each is namesakes[row]]
    for identity, finding in (*own, *_nested(namesakes[row].consequences)):
        yield Sighting(old, new, datetime.fromisoformat(first.judged), identity, finding)


def _first(database: Database, row: int) -> _Judged:
    """The judgement that had a finding first; of one that another store gave, that which this one gave after it.

    A store that was merged before it told them apart has the former written beside the finding.
    """
    finding_ = tables.finding.c
    rows = database.rows(_JUDGED.select_from(tables.finding.join(tables.verdict)).where(finding_.id == row))
    if not rows:
        raise damaged(database.where, f"finding {row}, or its verdict, is missing")
    first = _Judged(*rows[0])
    if first.brought is None:
        return first
    same = (_VERDICT.old_id == first.old_id, _VERDICT.new_id == first.new_id, _VERDICT.brought.is_(None))
    own = (_Judged(*each) for each in database.rows(_JUDGED.where(*same).order_by(_VERDICT.id)))
    return next((each for each in own if any(row in part for part in _lists(database, each.id))), first)


def _release(database: Database, identifier: int) -> Release:
    for release in cards.find(database, cards.SNAPSHOT.id == identifier):
        return release
    raise damaged(database.where, f"release {identifier} of a verdict is missing")


def _namesakes(database: Database, verdict: int, row: int, key: bytes) -> Iterator[int]:
    """The findings in the same list of a judgement that have the same identity: these are numbered."""
    called = set(findings.identified_by(database, key[:IDENTITY_SIZE].hex()))
    return (each for part in _lists(database, verdict) if row in part for each in part if each in called)


def _lists(database: Database, verdict: int) -> list[list[int]]:
    """The rows of the findings of a judgement, list by list."""
    parts = parts_of(database, verdict)
    return [findings.unpack(parts[part]) for part in LISTS if part in parts]


def _nested(consequences: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    for identity, finding in identified(consequences):
        yield identity, finding
        yield from _nested(finding.consequences)
