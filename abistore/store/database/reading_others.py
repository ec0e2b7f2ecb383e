"""Reading stores of another schema: which ones, and what stands for the columns that an older one has not."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column

from abistore.errors import SchemaMismatch
from abistore.store.database.database import Database
from abistore.store.database.parts import column_part
from abistore.store.database.schema import HEAD
from abistore.store.database.tables import metadata

OLDEST_READ: Final = "0013"
"""The oldest schema that this abistore reads without an upgrade: what came later are columns that may be ``NULL``."""

WHO_GAVE: Final = "0016"
"""Since when a verdict says whether another store gave it."""

READABLE: Final = "readable"
"""The table of a later schema whose one row, in ``from_schema``, says the oldest that its readers may know.

The migration that makes a store unreadable for others writes its own number there.
"""


def check_readable(database: Database, found: str) -> None:
    """Raise :class:`SchemaMismatch` where a store of another schema cannot be read, or might be misread."""
    where = f"{database.where}: the store has the {'newer' if found > HEAD else 'older'} schema {found}"
    if found > HEAD:
        rows = database.command(f"SELECT from_schema FROM {READABLE}") if READABLE in database.tables() else ()
        if not any(str(first) <= HEAD for (first,) in rows):
            message = f"{where}, this abistore knows {HEAD}"
            raise SchemaMismatch(message, "use the abistore that wrote it, or a newer one")
        return
    merged = found < WHO_GAVE and database.command("SELECT 1 FROM audit WHERE action = 'merge' LIMIT 1")
    if found < OLDEST_READ or merged:
        raise SchemaMismatch(f"{where}, this abistore needs {HEAD}", "run `abistore db upgrade`")


def fill_in(database: Database) -> None:
    """Have statements find ``NULL`` in the columns that an older store has not, as an upgrade would write it."""
    found = database.parts([table.name for table in metadata.sorted_tables])
    for table in metadata.sorted_tables:
        missing = [each for each in table.columns if column_part(each.name) not in found[table.name]]
        if missing:
            database.show_as(table.name, ", ".join(f"{_nothing(database, each)} AS {each.name}" for each in missing))


def _nothing(database: Database, column: Column[object]) -> str:
    return f"CAST(NULL AS {column.type.compile(database.connection.dialect)})"
