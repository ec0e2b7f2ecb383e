"""Everything that can be verified about a store, one part after the other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import TypeAlias

import msgspec
from sqlalchemy import BindParameter, bindparam, select

from abistore.errors import SchemaMismatch, StoreError
from abistore.model.digest import digest, name_digest
from abistore.model.history import LineKey, Progress
from abistore.store.consumers import stored
from abistore.store.database import audit, seals, tables
from abistore.store.database.database import Database
from abistore.store.database.schema import HEAD, revision
from abistore.store.database.structure import structure_problems
from abistore.store.history import approvals, findings, reviews, verdicts
from abistore.store.releases import baselines, cards, lines
from abistore.store.snapshots import calling
from abistore.store.snapshots.locations import unpack
from abistore.store.snapshots.replay import line_problems

Problems: TypeAlias = Iterator[str]
Part: TypeAlias = tuple[str, Callable[[Database], Problems]]

_BATCH = 5000

_NAME, _SHAPE, _ENTRY, _CARD = tables.name.c, tables.shape.c, tables.entry.c, tables.snapshot.c
_LAST: BindParameter[int] = bindparam("last")
_NAMES = (
    select(_NAME.id, _NAME.kind, _NAME.spelling, _NAME.digest, _NAME.entries)
    .where(_NAME.id > _LAST)
    .order_by(_NAME.id)
    .limit(_BATCH)
)
_ENTRIES = (
    select(_ENTRY.name_id, _ENTRY.line_id, _ENTRY.facet, _SHAPE.digest, _ENTRY.first_seq, _ENTRY.last_seq)
    .select_from(tables.entry.join(tables.shape))
    .where(_ENTRY.name_id.between(bindparam("first"), _LAST))
    .order_by(_ENTRY.name_id)
)
_SHAPES = select(_SHAPE.id, _SHAPE.digest, _SHAPE.body).where(_SHAPE.id > _LAST).order_by(_SHAPE.id).limit(_BATCH)
_PLACES = (
    select(_CARD.id, _CARD.places, tables.location.c.body)
    .select_from(tables.snapshot.outerjoin(tables.location))
    .where(_CARD.id > _LAST)
    .order_by(_CARD.id)
    .limit(50)
)
_LABELS = (tables.library.c.name, tables.line.c.target, tables.line.c.profile)
_LINES = select(tables.line.c.id, *_LABELS).select_from(tables.line.join(tables.library)).order_by(*_LABELS)


def check(database: Database, *, quick: bool = False, progress: Progress | None = None) -> tuple[str, ...]:
    """Everything that is wrong with the store, a sentence each; empty where it is sound.

    ``quick`` is the database's own structure, its indexes, and what tells missing rows: the sums and the audit's chain.
    Else every digest too, and every release as it was when it came. ``progress`` is told what is looked at, and which
    part of all is done, from 0 to 1.
    """
    if (found_schema := revision(database)) != HEAD:
        message = f"{database.where}: the store has the schema {found_schema}, this abistore verifies {HEAD}"
        raise SchemaMismatch(message, "verify it with the abistore that wrote it, or run `abistore db upgrade`")
    parts = list(_QUICK) if quick else [*_QUICK, *_LONG, *_lines(database)]
    found: dict[str, None] = {}
    for number, (what, part) in enumerate(parts):
        if progress:
            progress(what, number / len(parts))
        try:
            with database.reading():  # each part of one moment: others may write meanwhile
                found.update(dict.fromkeys(part(database)))
        except StoreError as error:
            found[error.message] = None
        except (msgspec.MsgspecError, zlib.error) as error:
            found[f"{what}: damaged ({error})"] = None
    return tuple(found)


def _sums(database: Database) -> Problems:
    """The rows of libraries, lines, releases and baselines: each by its checksum, all by the sums over them."""
    for library in sorted({line.key.library for line in lines.every(database)}):
        for condition in (cards.RELEASES, cards.CANDIDATES):
            yield from _told(database, partial(cards.of_library, database, condition, (library, None, None)))
    yield from _told(database, lambda: cards.find(database, cards.SNAPSHOT.superseded == 1))
    yield from _told(database, lambda: baselines.standing(database))


def _told(database: Database, read: Callable[[], object]) -> Problems:
    try:
        read()
    except StoreError as error:
        database.go_on(error)
        yield error.message


def _audit(database: Database) -> Problems:
    yield from _told(database, lambda: audit.verify(database))


def _reviews(database: Database) -> Problems:
    yield from _told(database, lambda: reviews.every(database))


def _approvals(database: Database) -> Problems:
    yield from _told(database, lambda: approvals.every(database))


def _consumers(database: Database) -> Problems:
    yield from _told(database, lambda: stored.every(database))


def _names(database: Database) -> Problems:
    """Each name by its digest, and by the sum over its entries."""
    last = -1
    while rows := database.rows(_NAMES, {"last": last}):
        first, last = rows[0][0], rows[-1][0]
        sums = _entry_sums(database, first, last)
        for identifier, kind, spelling, key, total in rows:
            if name_digest(kind, spelling) != key:
                yield f"name {identifier}, {kind} {spelling}: it has another digest"
            if sums.get(identifier, 0) != total:
                yield f"name {identifier}, {kind} {spelling}: an entry is missing or was changed"


def _entry_sums(database: Database, first: int, last: int) -> dict[int, int]:
    """The sum over the entries of each name from one id to another, which the index of names gives."""
    rows = database.rows(_ENTRIES, {"first": first, "last": last})
    return {
        name: sum(seals.entry(line, facet, seals.key(shape), *span) for _, line, facet, shape, *span in own)
        for name, own in groupby(rows, key=lambda row: row[0])
    }


def _shapes(database: Database) -> Problems:
    last = -1
    while rows := database.rows(_SHAPES, {"last": last}):
        for identifier, key, body in rows:
            if digest(body.encode()) != key:
                yield f"shape {key.hex()}: its body has another digest"
            last = identifier


def _locations(database: Database) -> Problems:
    last = -1
    names = {row[0] for row in database.rows(select(tables.name.c.id))}
    while rows := database.rows(_PLACES, {"last": last}):
        for last, places, body in rows:
            if (places is None) != (body is None) or (body is not None and seals.of_bytes(body) != places):
                yield f"snapshot {last}: its locations are missing or were changed"
            elif body is not None and not unpack(body).keys() <= names:
                yield f"snapshot {last}: the name of a location is missing"


def _lines(database: Database) -> Iterator[Part]:
    """A part for each line: every snapshot that it ever had, as its entries tell it."""
    try:
        rows = database.rows(_LINES)
    except StoreError:
        return  # the parts before tell why
    for identifier, *labels in rows:
        what = str(LineKey(*labels))
        yield what, partial(line_problems, line=identifier, what=what)


_QUICK: tuple[Part, ...] = (
    ("the database's schema", structure_problems),
    ("the database's structure", lambda database: database.problems()),
    ("releases and baselines", _sums),
    ("the audit", _audit),
    ("what names are called", calling.check),
    ("reviews", _reviews),
    ("approvals", _approvals),
    ("consumers", _consumers),
)
_LONG: tuple[Part, ...] = (
    ("names", _names),
    ("shapes", _shapes),
    ("locations", _locations),
    ("verdicts", verdicts.problems),
    ("findings", findings.problems),
    ("what consumers import", stored.problems),
)
