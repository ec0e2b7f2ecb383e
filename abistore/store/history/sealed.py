"""Tables that are only ever added to: every row is sealed, and the root has the sum of the seals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Select, Table, bindparam, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.store.database import tables
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum


def sealed_rows(
    database: Database, statement: Select[Any], what: str, added: Sequence[str] = ()
) -> list[Sequence[Any]]:
    """The values of all rows, verified. ``what`` is one of them in words: ``a review``.

    ``statement`` selects the sum, the row's number, its values (those that say of what it is first), and its seal; the
    number is ``NULL`` where there is no row. ``added`` names the last of the values, as :class:`SealedLedger` has them.
    Raises :class:`StoreError` where a row was changed or taken away.
    """
    rows = database.rows(statement)
    found, missing = list[Sequence[Any]](), rows[0][0] if rows else None
    for _, identifier, *values, seal in rows:
        if identifier is None:
            continue
        if checksum(identifier, *_sealed(values, added)) != seal:
            raise damaged(database.where, f"{what} of {values[0]} {values[1]}")
        missing -= seal
        found.append(values)
    if missing != 0:
        raise damaged(database.where, f"{what} is missing")
    return found


def _sealed(values: Sequence[Any], added: Sequence[str]) -> Iterator[Any]:
    """What a seal is of. A value that was added is told by its column: another one may be left out."""
    first = len(values) - len(added)
    yield from values[:first]
    yield from (f"{name}={value}" for name, value in zip(added, values[first:], strict=True) if value is not None)


class SealedLedger:
    """What people said of findings, oldest first: rows of ``table``. ``total`` of the root is the sum of their seals.

    ``columns`` are the values of a row, beside the library that it is about. Those ``added`` by a later schema are text
    or ``NULL``, and a seal leaves them out where they are ``NULL``: rows of before stay valid.
    """

    def __init__(self, table: Table, total: str, columns: Sequence[str], added: Sequence[str] = ()) -> None:
        root, library = tables.root.c, tables.library.c
        columns = (*columns, *added)
        self._columns, self._added = columns, added
        self._every = (
            select(root[total], table.c.id, library.name, *(table.c[each] for each in columns), table.c.checksum)
            .select_from(tables.root.outerjoin(table.join(tables.library), root.id == 1))
            .order_by(table.c.id)
        )
        self._library = select(library.id).where(library.name == bindparam("library"))
        self._insert = insert(table)
        self._seal = update(table).where(table.c.id == bindparam("identifier"))
        self._count = update(tables.root).values({total: root[total] + bindparam("seal")})

    def rows(self, database: Database, what: str) -> list[Sequence[Any]]:
        """The library and the values of all rows, as :func:`sealed_rows` says."""
        return sealed_rows(database, self._every, what, self._added)

    def append(self, database: Database, library: str, values: Sequence[Any]) -> None:
        """Write a row. Raises :class:`SnapshotNotFound` for an unknown library."""
        known = database.rows(self._library, {"library": library})
        if not known:
            raise SnapshotNotFound(f"{library}: no such library in {database.where}")
        told = dict(zip(self._columns, values, strict=True))
        identifier = database.insert(self._insert, {"library_id": known[0][0], **told, "checksum": 0})
        seal = checksum(identifier, *_sealed((library, *values), self._added))
        database.run(self._seal.values(checksum=seal), {"identifier": identifier})
        database.run(self._count, {"seal": seal})
