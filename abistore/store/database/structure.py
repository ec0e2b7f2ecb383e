"""Whether a database still has the tables of this schema, with their columns, keys and indexes."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ForeignKeyConstraint, PrimaryKeyConstraint, Table, UniqueConstraint

from abistore.store.database.database import Database
from abistore.store.database.parts import Part, column_part, index_part, key_part, reference_part
from abistore.store.database.tables import metadata, version


def structure_problems(database: Database) -> Iterator[str]:
    """A sentence for all that is missing; statements would fail, or be slow, or let in what must not be there twice."""
    expected = {table.name: _expected(table) for table in (*metadata.sorted_tables, version)}
    found = database.parts([name for name in database.tables() if name in expected])
    for table, parts in expected.items():
        if table not in found:
            yield f"table {table}: it is missing"
            continue
        for what, columns in sorted(parts - found[table]):
            yield f"table {table}: its {what} ({', '.join(columns)}) is missing"


def _expected(table: Table) -> set[Part]:
    parts = {column_part(column.name) for column in table.columns}
    parts |= {index_part(index.unique, index.columns.keys()) for index in table.indexes}
    for constraint in table.constraints:
        match constraint:
            case PrimaryKeyConstraint():
                parts.add(key_part(constraint.columns.keys()))
            case UniqueConstraint():
                parts.add(index_part(True, constraint.columns.keys()))
            case ForeignKeyConstraint():
                parts.add(reference_part(str(constraint.referred_table), constraint.column_keys))
    return parts
