"""Statements of tests, as text: what nobody does to a store but through its back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abistore.store.database import Database


def sql(database: Database, statement: str, *values: object) -> Sequence[Any]:
    """The rows, if any, of a statement with ``?`` for its ``values``. Errors are as those of the store's own."""
    native = statement if database.path else statement.replace("?", "%s")
    with database.translated():
        result = database.connection.exec_driver_sql(native, values)
        return result.all() if result.returns_rows else ()
