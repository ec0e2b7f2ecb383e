"""Whether a database still has the tables of this schema, with their columns, keys and indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from sqlalchemy import ForeignKeyConstraint, Inspector, PrimaryKeyConstraint, Table, UniqueConstraint, inspect

from abistore.store.database.database import Database
from abistore.store.database.tables import metadata, version

Part: TypeAlias = tuple[str, tuple[str, ...]]
"""What a table consists of, such as a ``unique index`` of some columns."""


def structure_problems(database: Database) -> Iterator[str]:
    """A sentence for all that is missing; statements would fail, or be slow, or let in what must not be there twice."""
    present = database.tables()
    with database.translated():
        inspector = inspect(database.connection)
        for table in (*metadata.sorted_tables, version):
            if table.name not in present:
                yield f"table {table}: it is missing"
                continue
            for what, columns in sorted(_expected(table) - _found(inspector, table.name)):
                yield f"table {table}: its {what} ({', '.join(columns)}) is missing"


def _expected(table: Table) -> set[Part]:
    parts: set[Part] = {("column", (column.name,)) for column in table.columns}
    parts |= {(_index(index.unique), tuple(index.columns.keys())) for index in table.indexes}
    for constraint in table.constraints:
        match constraint:
            case PrimaryKeyConstraint():
                parts.add(("primary key", tuple(constraint.columns.keys())))
            case UniqueConstraint():
                parts.add((_index(True), tuple(constraint.columns.keys())))
            case ForeignKeyConstraint():
                parts.add((f"reference to {constraint.referred_table}", tuple(constraint.column_keys)))
    return parts


def _found(inspector: Inspector, table: str) -> set[Part]:
    parts: set[Part] = {("column", (column["name"],)) for column in inspector.get_columns(table)}
    parts |= {
        (_index(index["unique"]), tuple(name or "" for name in index["column_names"]))
        for index in inspector.get_indexes(table)
    }
    parts |= {(_index(True), tuple(unique["column_names"])) for unique in inspector.get_unique_constraints(table)}
    parts.add(("primary key", tuple(inspector.get_pk_constraint(table)["constrained_columns"])))
    references = inspector.get_foreign_keys(table)
    parts |= {(f"reference to {each['referred_table']}", tuple(each["constrained_columns"])) for each in references}
    return parts


def _index(unique: bool | None) -> str:
    return "unique index" if unique else "index"
