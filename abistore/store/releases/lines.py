"""Libraries and their lines: their rows, verified where they are read, and the sums that they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from abistore.model.history import LineKey
from abistore.model.versions import AUTO
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum

COLUMNS = (
    "library.name, library.scheme, library.lines, library.checksum, line.library_id, line.target, line.profile, "
    "line.releases, line.candidates, line.moves, line.scheme, line.checksum"
)
WIDTH = COLUMNS.count(",") + 1
SOURCES = "library LEFT JOIN line ON line.library_id = library.id"
SUMS = ("releases", "candidates", "moves")
_UNINDEXED = "name || ''"
UNCOUNTED = 0
"""The checksum of a line without a snapshot: it is held by a writer that has not stored one yet, and is not counted."""


class Line(NamedTuple):
    """A line's labels, the sums over its releases, its candidates and the moves of its baselines, and its scheme.

    The scheme is ``None`` where that of the library orders the line.
    """

    key: LineKey
    releases: int
    candidates: int
    moves: int
    scheme: str | None


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


def named(database: Database, statement: str, parameters: tuple[object, ...], library: str) -> Sequence[Row]:
    """The rows that ``statement`` gives for ``library``, by its name.

    Raises :class:`StoreError` where there are none because a library is missing, or the index of their names damaged.
    """
    rows = database.rows(statement, parameters)
    if not rows:
        exists = "EXISTS (SELECT 1 FROM library WHERE {} = ?)".format
        # no index is of what is made of a column
        ((indexed, stored),) = database.rows(f"SELECT {exists('name')}, {exists(_UNINDEXED)}", (library, library))
        if indexed != stored:
            raise damaged(database.where, "the index of libraries")
        every(database)
    return rows


def _line(database: Database, library: str, row: Row) -> Line:
    library_id, target, profile, releases, candidates, moves, scheme, seal = row
    key = LineKey(library, target, profile)
    if _seal(library_id, target, profile, (releases, candidates, moves), scheme) != seal:
        raise damaged(database.where, f"the row of line {key}")
    return Line(key, releases, candidates, moves, scheme)


def _seal(library_id: int, target: str, profile: str, sums: Sequence[int], scheme: str | None) -> int:
    """A line's checksum; few lines have a scheme of their own."""
    return checksum(library_id, target, profile, *sums, *((scheme,) if scheme is not None else ()))


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
    statement = f"SELECT library_id, target, profile, {', '.join(SUMS)}, scheme, checksum FROM line WHERE id = ?{lock}"
    library, target, profile, *before, scheme, seal = database.rows(statement, (line,))[0]
    if seal != UNCOUNTED and _seal(library, target, profile, before, scheme) != seal:
        raise damaged(database.where, f"the row of line {target} {profile}")
    sums = [one + differences.get(name, 0) for name, one in zip(SUMS, before, strict=True)]
    assigned = ", ".join(f"{name} = ?" for name in (*SUMS, "checksum"))
    database.run(
        f"UPDATE line SET {assigned} WHERE id = ?", (*sums, _seal(library, target, profile, sums, scheme), line)
    )
    if seal == UNCOUNTED:
        _amend_library(database, library, lines=checksum(target, profile))


def new_library(name: str) -> tuple[str, str, int, int]:
    """Name, scheme, sum and checksum of a library that has no line yet."""
    return name, AUTO, 0, checksum(name, AUTO, 0)


def scheme(database: Database, library: str) -> str:
    """The version scheme declared for ``library``: ``auto`` where nobody did. Raises :class:`StoreError`."""
    rows = named(database, "SELECT scheme, lines, checksum FROM library WHERE name = ?", (library,), library)
    for chosen, lines, seal in rows:
        if checksum(library, chosen, lines) != seal:
            raise damaged(database.where, f"the row of library {library}")
    return str(rows[0][0]) if rows else AUTO


def of_library(database: Database, library: str) -> list[Line]:
    """The lines of a library. Raises :class:`StoreError` where a row is damaged or missing."""
    statement = f"SELECT {COLUMNS} FROM {SOURCES} WHERE library.name = ?"
    return verified(database, named(database, statement, (library,), library))


def set_scheme(database: Database, library: str, scheme: str) -> None:
    """Write the scheme of a library, by which all its lines are ordered then."""
    ((identifier,),) = database.rows("SELECT id FROM library WHERE name = ?", (library,))
    _amend_library(database, identifier, scheme=scheme)
    for line in of_library(database, library):
        if line.scheme is not None:
            set_own_scheme(database, line.key, None)


def set_own_scheme(database: Database, key: LineKey, scheme: str | None) -> None:
    """Write the scheme that orders one line; ``None`` where that of its library shall."""
    lock = "" if database.is_sqlite else " FOR UPDATE OF line"
    columns = ", ".join(f"line.{name}" for name in ("library_id", "target", "profile", *SUMS, "scheme", "checksum"))
    statement = (
        f"SELECT line.id, {columns} FROM line JOIN library ON library.id = line.library_id "
        f"WHERE library.name = ? AND line.target = ? AND line.profile = ?{lock}"
    )
    identifier, *row = database.rows(statement, (key.library, key.target, key.profile))[0]
    line = _line(database, key.library, row)
    seal = _seal(row[0], key.target, key.profile, (line.releases, line.candidates, line.moves), scheme)
    database.run("UPDATE line SET scheme = ?, checksum = ? WHERE id = ?", (scheme, seal, identifier))


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
