"""Reading what is only ever added to: every row is sealed, and the root has the sum of the seals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select

from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum


def sealed_rows(database: Database, statement: Select[Any], what: str) -> list[Sequence[Any]]:
    """The values of all rows, verified. ``what`` is one of them in words: ``a review``.

    ``statement`` selects the sum, the row's number, its values (those that say of what it is first), and its seal; the
    number is ``NULL`` where there is no row. Raises :class:`StoreError` where a row was changed or taken away.
    """
    rows = database.rows(statement)
    found, missing = list[Sequence[Any]](), rows[0][0] if rows else None
    for _, identifier, *values, seal in rows:
        if identifier is None:
            continue
        if checksum(identifier, *values) != seal:
            raise damaged(database.where, f"{what} of {values[0]} {values[1]}")
        missing -= seal
        found.append(values)
    if missing != 0:
        raise damaged(database.where, f"{what} is missing")
    return found
