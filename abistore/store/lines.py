"""Libraries and their lines: their rows, verified where they are read, and the sums that they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from abistore.model.history import LineKey
from abistore.store.database import Database, Row
from abistore.store.failures import damaged
from abistore.store.seals import checksum

COLUMNS = (
    "library.name, library.scheme, library.lines, library.checksum, line.library_id, line.target, line.profile, "
    "line.releases, line.candidates, line.moves, line.checksum"
)
WIDTH = COLUMNS.count(",") + 1
SOURCES = "library LEFT JOIN line ON line.library_id = library.id"
SUMS = ("releases", "candidates", "moves")
UNCOUNTED = 0
"""The checksum of a line without a snapshot: it is held by a writer that has not stored one yet, and is not counted."""


class Line(NamedTuple):
    """A line's labels, and the sums over its releases, its candidates and the moves of its baselines."""

    key: LineKey
    releases: int
    candidates: int
    moves: int


def verified(database: Database, rows: Iterable[Row]) -> list[Line]:
    """The lines in rows that begin with :data:`COLUMNS` and hold every line of each library.

    Raises :class:`StoreError` where a row is damaged or missing.
    """
    found: list[Line] = []
    missing: dict[str, int] = {}
    for name, scheme, lines, seal, *row in dict.fromkeys(tuple(row[:WIDTH]) for row in rows):
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


def _line(database: Database, library: str, row: Row) -> Line:
    library_id, target, profile, *sums, seal = row
    key = LineKey(library, target, profile)
    if checksum(library_id, target, profile, *sums) != seal:
        raise damaged(database.where, f"the row of line {key}")
    return Line(key, *sums)


def every(database: Database) -> tuple[Line, ...]:
    """All lines, sorted. Raises :class:`StoreError` where a row is damaged or missing."""
    rows = database.rows(f"SELECT root.libraries, {COLUMNS} FROM root LEFT JOIN ({SOURCES}) ON 1 = 1")
    own = [row[1:] for row in rows if row[1] is not None]
    found = verified(database, own)
    counted = {name: seal for name, _, lines, seal, *_ in own if lines}
    if not rows or sum(counted.values()) != rows[0][0]:
        raise damaged(database.where, "a library is missing")
    return tuple(sorted(found, key=lambda line: line.key))


def add(database: Database, line: int, differences: Mapping[str, int]) -> None:
    """Add to some of a line's :data:`SUMS`, whose row no other writer can change meanwhile."""
    lock = "" if database.is_sqlite else " FOR UPDATE"
    statement = f"SELECT library_id, target, profile, {', '.join(SUMS)}, checksum FROM line WHERE id = ?{lock}"
    *row, seal = database.rows(statement, (line,))[0]
    if seal != UNCOUNTED and checksum(*row) != seal:
        raise damaged(database.where, f"the row of line {row[1]} {row[2]}")
    sums = [before + differences.get(name, 0) for name, before in zip(SUMS, row[3:], strict=True)]
    assigned = ", ".join(f"{name} = ?" for name in (*SUMS, "checksum"))
    database.run(f"UPDATE line SET {assigned} WHERE id = ?", (*sums, checksum(*row[:3], *sums), line))
    if seal == UNCOUNTED:
        _amend_library(database, row[0], lines=checksum(row[1], row[2]))


def new_library(name: str) -> tuple[str, str, int, int]:
    """Name, scheme, sum and checksum of a library that has no line yet."""
    return name, "auto", 0, checksum(name, "auto", 0)


def set_scheme(database: Database, library: str, scheme: str) -> None:
    """Write the scheme of a library."""
    ((identifier,),) = database.rows("SELECT id FROM library WHERE name = ?", (library,))
    _amend_library(database, identifier, scheme=scheme)


def _amend_library(database: Database, identifier: int, *, lines: int = 0, scheme: str | None = None) -> None:
    lock = "" if database.is_sqlite else " FOR UPDATE"
    statement = f"SELECT name, scheme, lines, checksum FROM library WHERE id = ?{lock}"
    name, before, counted, seal = database.rows(statement, (identifier,))[0]
    if checksum(name, before, counted) != seal:
        raise damaged(database.where, f"the row of library {name}")
    after = (scheme or before, counted + lines)
    changed = checksum(name, *after)
    statement = "UPDATE library SET scheme = ?, lines = ?, checksum = ? WHERE id = ?"
    database.run(statement, (*after, changed, identifier))
    # the root counts a library with its first line
    database.run("UPDATE root SET libraries = libraries + ?", (changed - (seal if counted else 0),))
