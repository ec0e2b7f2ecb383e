"""Everything that can be verified about a store, one part after the other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import TypeAlias

import msgspec

from abistore.errors import StoreError
from abistore.model.digest import digest, name_digest
from abistore.model.history import LineKey
from abistore.store.database import audit, seals
from abistore.store.database.database import Database
from abistore.store.database.structure import structure_problems
from abistore.store.history import findings, verdicts
from abistore.store.releases import baselines, cards, lines
from abistore.store.snapshots import calling
from abistore.store.snapshots.locations import unpack
from abistore.store.snapshots.replay import line_problems

Problems: TypeAlias = Iterator[str]
Part: TypeAlias = tuple[str, Callable[[Database], Problems]]
Progress: TypeAlias = Callable[[str, float], None]

_BATCH = 5000


def check(database: Database, quick: bool, progress: Progress | None) -> tuple[str, ...]:
    """Everything that is wrong with the store, a sentence each; empty where it is sound.

    ``quick`` is the database's own structure, its indexes, and what tells missing rows: the sums and the audit's chain.
    Else every digest too, and every release as it was when it came. ``progress`` is told what is looked at, and which
    part of all is done, from 0 to 1.
    """
    parts = list(_QUICK) if quick else [*_QUICK, *_LONG, *_lines(database)]
    found: dict[str, None] = {}
    for number, (what, part) in enumerate(parts):
        if progress:
            progress(what, number / len(parts))
        try:
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
            yield from _told(partial(cards.of_library, database, condition, (library, None, None)))
    yield from _told(lambda: cards.find(database, "snapshot.superseded = 1", ()))
    yield from _told(lambda: baselines.standing(database, None))


def _told(read: Callable[[], object]) -> Problems:
    try:
        read()
    except StoreError as error:
        yield error.message


def _audit(database: Database) -> Problems:
    yield from _told(lambda: audit.verify(database))


def _names(database: Database) -> Problems:
    """Each name by its digest, and by the sum over its entries."""
    last = -1
    statement = "SELECT id, kind, spelling, digest, entries FROM name WHERE id > ? ORDER BY id LIMIT ?"
    while rows := database.rows(statement, (last, _BATCH)):
        first, last = rows[0][0], rows[-1][0]
        sums = _entry_sums(database, first, last)
        for identifier, kind, spelling, key, total in rows:
            if name_digest(kind, spelling) != key:
                yield f"name {identifier}, {kind} {spelling}: it has another digest"
            if sums.get(identifier, 0) != total:
                yield f"name {identifier}, {kind} {spelling}: an entry is missing or was changed"


def _entry_sums(database: Database, first: int, last: int) -> dict[int, int]:
    """The sum over the entries of each name from one id to another, which the index of names gives."""
    statement = (
        "SELECT entry.name_id, entry.line_id, entry.facet, shape.digest, entry.first_seq, entry.last_seq FROM entry "
        "JOIN shape ON shape.id = entry.shape_id WHERE entry.name_id >= ? AND entry.name_id <= ? ORDER BY entry.name_id"
    )
    rows = database.rows(statement, (first, last))
    return {
        name: sum(seals.entry(line, facet, seals.key(shape), *span) for _, line, facet, shape, *span in own)
        for name, own in groupby(rows, key=lambda row: row[0])
    }


def _shapes(database: Database) -> Problems:
    last = -1
    statement = "SELECT id, digest, body FROM shape WHERE id > ? ORDER BY id LIMIT ?"
    while rows := database.rows(statement, (last, _BATCH)):
        for identifier, key, body in rows:
            if digest(body.encode()) != key:
                yield f"shape {key.hex()}: its body has another digest"
            last = identifier


def _locations(database: Database) -> Problems:
    statement = (
        "SELECT snapshot.id, snapshot.places, location.body FROM snapshot "
        "LEFT JOIN location ON location.snapshot_id = snapshot.id WHERE snapshot.id > ? ORDER BY snapshot.id LIMIT 50"
    )
    last = -1
    names = {row[0] for row in database.rows("SELECT id FROM name")}
    while rows := database.rows(statement, (last,)):
        for last, places, body in rows:
            if (places is None) != (body is None) or (body is not None and seals.of_bytes(body) != places):
                yield f"snapshot {last}: its locations are missing or were changed"
            elif body is not None and not unpack(body).keys() <= names:
                yield f"snapshot {last}: the name of a location is missing"


def _lines(database: Database) -> Iterator[Part]:
    """A part for each line: every snapshot that it ever had, as its entries tell it."""
    statement = (
        "SELECT line.id, library.name, line.target, line.profile FROM line "
        "JOIN library ON library.id = line.library_id ORDER BY library.name, line.target, line.profile"
    )
    try:
        rows = database.rows(statement)
    except StoreError:
        return  # the parts before tell why
    for identifier, *labels in rows:
        what = str(LineKey(*labels))
        yield what, partial(line_problems, line=identifier, what=what)


_QUICK: tuple[Part, ...] = (
    ("the database's structure", structure_problems),
    ("releases and baselines", _sums),
    ("the audit", _audit),
    ("what names are called", calling.check),
)
_LONG: tuple[Part, ...] = (
    ("names", _names),
    ("shapes", _shapes),
    ("locations", _locations),
    ("verdicts", verdicts.problems),
    ("findings", findings.problems),
)
