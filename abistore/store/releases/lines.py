"""Libraries and their lines: their rows, verified where they are read, and the sums that they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, exists, literal, select, update

from abistore.model.history import LineKey
from abistore.model.labels.steps import AUTO
from abistore.store.database import tables
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.on_conflict import insert_new
from abistore.store.database.seals import checksum

_LIBRARY, _LINE = tables.library.c, tables.line.c

SUMS = ("releases", "candidates", "moves")
_SEALED = (_LINE.library_id, _LINE.target, _LINE.profile, *(_LINE[name] for name in SUMS), _LINE.scheme, _LINE.checksum)
_SEALED_LIBRARY = (_LIBRARY.name, _LIBRARY.scheme, _LIBRARY.lines, _LIBRARY.checksum)

COLUMNS = (*_SEALED_LIBRARY, *_SEALED)
SOURCES = tables.library.outerjoin(tables.line)
OF_LIBRARY = _LIBRARY.name == bindparam("library")
OF_LINE = and_(OF_LIBRARY, _LINE.target == bindparam("target"), _LINE.profile == bindparam("profile"))
"""The conditions for a library, and for a line by its :func:`labels`."""

_EVERY = select(tables.root.c.libraries, *COLUMNS).select_from(tables.root.outerjoin(SOURCES, literal(True)))
_OF_LIBRARY = select(*COLUMNS).select_from(SOURCES).where(OF_LIBRARY)
_SCHEME = select(_LIBRARY.scheme, _LIBRARY.lines, _LIBRARY.checksum).where(OF_LIBRARY)
_LIBRARY_ID = select(_LIBRARY.id).where(OF_LIBRARY)
# no index is of what is made of a column
_INDEXED = select(exists().where(OF_LIBRARY), exists().where(_LIBRARY.name.concat("") == bindparam("library")))
_HELD = select(*_SEALED).where(_LINE.id == bindparam("line")).with_for_update()
_HELD_BY_LABELS = (
    select(_LINE.id, *_SEALED)
    .select_from(tables.line.join(tables.library))
    .where(OF_LINE)
    .with_for_update(of=tables.line)
)
_HELD_LIBRARY = select(*_SEALED_LIBRARY).where(_LIBRARY.id == bindparam("identifier")).with_for_update()
NEW_LIBRARY = insert_new(tables.library)
_AMEND_LINE = update(tables.line).where(_LINE.id == bindparam("line"))
_AMEND_LIBRARY = update(tables.library).where(_LIBRARY.id == bindparam("identifier"))
_COUNT_LIBRARY = update(tables.root).values(libraries=tables.root.c.libraries + bindparam("difference"))
UNCOUNTED = 0
"""The checksum of a line without a snapshot: it is held by a writer that has not stored one yet, and is not counted."""


class LineOverview(NamedTuple):
    """A line's labels, the sums over its releases, its candidates and the moves of its baselines, and its scheme.

    The scheme is ``None`` where that of the library orders the line.
    """

    key: LineKey
    releases: int
    candidates: int
    moves: int
    scheme: str | None


def verified(database: Database, rows: Iterable[Row]) -> list[LineOverview]:
    """The lines in rows that begin with :data:`COLUMNS` and hold every line of each library.

    Raises :class:`StoreError` where a row is damaged or missing.
    """
    found: list[LineOverview] = []
    missing: dict[str, int] = {}
    for name, scheme, lines, seal, *row in dict.fromkeys(tuple(row[: len(COLUMNS)]) for row in rows):
        if checksum(name, scheme, lines) != seal:
            raise damaged(database.where, f"the row of library {name}")
        missing.setdefault(name, lines)
        if row[-1] in {None, UNCOUNTED}:
            continue
        line = _line(database, name, row)
        found.append(line)
        missing[name] -= checksum(line.key.target, line.key.profile)
    for name, sum_ in missing.items():
        if sum_:
            raise damaged(database.where, f"a line of library {name} is missing")
    return found


def labels(key: LineKey) -> dict[str, str]:
    """The parameters of :data:`OF_LINE`."""
    return {"library": key.library, "target": key.target, "profile": key.profile}


def named(database: Database, statement: Select[Any], library: str) -> Sequence[Row]:
    """The rows that ``statement`` gives :data:`OF_LIBRARY`.

    Raises :class:`StoreError` where there are none because a library is missing, or the index of their names damaged.
    """
    rows = database.rows(statement, {"library": library})
    if not rows:
        ((indexed, stored),) = database.rows(_INDEXED, {"library": library})
        if indexed != stored:
            raise damaged(database.where, "the index of libraries")
        every(database)
    return rows


def _line(database: Database, library: str, row: Row) -> LineOverview:
    library_id, target, profile, releases, candidates, moves, scheme, seal = row
    key = LineKey(library, target, profile)
    if _seal(library_id, target, profile, (releases, candidates, moves), scheme) != seal:
        raise damaged(database.where, f"the row of line {key}")
    return LineOverview(key, releases, candidates, moves, scheme)


def _seal(library_id: int, target: str, profile: str, sums: Sequence[int], scheme: str | None) -> int:
    """A line's checksum; few lines have a scheme of their own."""
    return checksum(library_id, target, profile, *sums, *((scheme,) if scheme is not None else ()))


def every(database: Database) -> tuple[LineOverview, ...]:
    """All lines, sorted. Raises :class:`StoreError` where a row is damaged or missing."""
    rows = database.rows(_EVERY)
    own = [row[1:] for row in rows if row[1] is not None]
    found = verified(database, own)
    counted = {name: seal for name, _, lines, seal, *_ in own if lines}
    if not rows or sum(counted.values()) != rows[0][0]:
        raise damaged(database.where, "a library is missing")
    return tuple(sorted(found, key=lambda line: line.key))


def add(database: Database, line: int, differences: Mapping[str, int]) -> None:
    """Add to some of a line's :data:`SUMS`, whose row no other writer can change meanwhile."""
    library, target, profile, *before, scheme, seal = database.rows(_HELD, {"line": line})[0]
    if seal != UNCOUNTED and _seal(library, target, profile, before, scheme) != seal:
        raise damaged(database.where, f"the row of line {target} {profile}")
    sums = [one + differences.get(name, 0) for name, one in zip(SUMS, before, strict=True)]
    changed = dict(zip(SUMS, sums, strict=True)) | {"checksum": _seal(library, target, profile, sums, scheme)}
    database.run(_AMEND_LINE.values(changed), {"line": line})
    if seal == UNCOUNTED:
        _amend_library(database, library, lines=checksum(target, profile))


def new_library(name: str) -> dict[str, object]:
    """The row of a library that has no line yet."""
    return {"name": name, "scheme": AUTO, "lines": 0, "checksum": checksum(name, AUTO, 0)}


def scheme(database: Database, library: str) -> str:
    """The version scheme declared for ``library``: ``auto`` where none was declared. Raises :class:`StoreError`."""
    rows = named(database, _SCHEME, library)
    for chosen, lines, seal in rows:
        if checksum(library, chosen, lines) != seal:
            raise damaged(database.where, f"the row of library {library}")
    return str(rows[0][0]) if rows else AUTO


def schemes(database: Database) -> dict[LineKey, str]:
    """The scheme that orders each line: its own where it has one, else its library's. Raises :class:`StoreError`."""
    declared = {row[1]: row[2] for row in database.rows(_EVERY)}
    return {line.key: line.scheme or declared[line.key.library] for line in every(database)}


def of_library(database: Database, library: str) -> list[LineOverview]:
    """The lines of a library. Raises :class:`StoreError` where a row is damaged or missing."""
    return verified(database, named(database, _OF_LIBRARY, library))


def set_scheme(database: Database, library: str, scheme: str) -> None:
    """Write the scheme of a library, by which all its lines are ordered then."""
    ((identifier,),) = database.rows(_LIBRARY_ID, {"library": library})
    _amend_library(database, identifier, scheme=scheme)
    for line in of_library(database, library):
        if line.scheme is not None:
            set_own_scheme(database, line.key, None)


def declare(database: Database, library: str, scheme: str) -> None:
    """Write a library that is ordered by ``scheme`` and has no line yet, unless it is there."""
    database.run(NEW_LIBRARY, {**new_library(library), "scheme": scheme, "checksum": checksum(library, scheme, 0)})


def set_own_scheme(database: Database, key: LineKey, scheme: str | None) -> None:
    """Write the scheme that orders one line; ``None`` where that of its library shall."""
    identifier, *row = database.rows(_HELD_BY_LABELS, labels(key))[0]
    line = _line(database, key.library, row)
    seal = _seal(row[0], key.target, key.profile, (line.releases, line.candidates, line.moves), scheme)
    database.run(_AMEND_LINE.values(scheme=scheme, checksum=seal), {"line": identifier})


def _amend_library(database: Database, identifier: int, *, lines: int = 0, scheme: str | None = None) -> None:
    name, before, counted, seal = database.rows(_HELD_LIBRARY, {"identifier": identifier})[0]
    if checksum(name, before, counted) != seal:
        raise damaged(database.where, f"the row of library {name}")
    chosen, lines = scheme or before, counted + lines
    changed = checksum(name, chosen, lines)
    database.run(_AMEND_LIBRARY.values(scheme=chosen, lines=lines, checksum=changed), {"identifier": identifier})
    # the root counts a library with its first line
    database.run(_COUNT_LIBRARY, {"difference": changed - (seal if counted else 0)})
