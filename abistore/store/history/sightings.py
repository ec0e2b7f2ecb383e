"""Stored findings by what they are called: each in the judgement that had it first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache

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


def sightings(database: Database, called: str, most: int, memory: RowMemory) -> tuple[tuple[Sighting, ...], int]:
    """The findings, and consequences, whose identity begins with ``called``: what was found last comes first.

    At most ``most``, and how many rows hold more of them. What is no beginning of an identity finds nothing.
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


def _placed(database: Database, found: Iterable[Sighting], memory: RowMemory) -> tuple[Sighting, ...]:
    """``found`` with where the declarations stand."""
    places_of = cache(lambda side: places(database, side, memory))
    return tuple(
        replace(one, finding=findings.placed(one.finding, places_of(one.old), places_of(one.new))) for one in found
    )


def _sighted(database: Database, row: int) -> Iterator[Sighting]:
    """The finding of one row and what follows from it."""
    verdict_, finding_ = tables.verdict.c, tables.finding.c
    statement = (
        select(verdict_.id, verdict_.old_id, verdict_.new_id, verdict_.judged, finding_.key)
        .select_from(tables.finding.join(tables.verdict))
        .where(finding_.id == row)
    )
    rows = database.rows(statement)
    if not rows:
        raise damaged(database.where, f"finding {row}, or its verdict, is missing")
    verdict, *sides, judged, key = rows[0]
    namesakes = findings.read(database, _namesakes(database, verdict, row, key))
    old, new = (_release(database, side) for side in sides)
    if row not in namesakes:
        raise damaged(database.where, f"verdict {verdict} does not have finding {row}")
    same = sorted(namesakes.values(), key=order)
    own = [(identity, each) for identity, each in identified(same) if each is namesakes[row]]
    for identity, finding in (*own, *_nested(namesakes[row].consequences)):
        yield Sighting(old, new, datetime.fromisoformat(judged), identity, finding)


def _release(database: Database, identifier: int) -> Release:
    for release in cards.find(database, cards.SNAPSHOT.id == identifier):
        return release
    raise damaged(database.where, f"release {identifier} of a verdict is missing")


def _namesakes(database: Database, verdict: int, row: int, key: bytes) -> Iterator[int]:
    """The findings in the same list of a judgement that have the same identity: these are numbered."""
    called = set(findings.identified_by(database, key[:IDENTITY_SIZE].hex()))
    parts = parts_of(database, verdict)
    lists = [findings.unpack(parts[part]) for part in LISTS if part in parts]
    return (each for part in lists if row in part for each in part if each in called)


def _nested(consequences: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    for identity, finding in identified(consequences):
        yield identity, finding
        yield from _nested(finding.consequences)
