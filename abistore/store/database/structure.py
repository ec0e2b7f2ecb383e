"""Whether a database still has the tables of this schema, with their columns, keys and indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from sqlalchemy import ForeignKeyConstraint, Inspector, PrimaryKeyConstraint, Table, UniqueConstraint, inspect

from abistore.store.database.database import Database
from abistore.store.database.tables import metadata, version

Part: TypeAlias = tuple[str, tuple[str, ...]]
"""What a table consists of, such as a ``unique index`` of some columns."""


def structure_problems(database: Database) -> Iterator[str]:
    """A sentence for all that is missing; statements would fail, or be slow, or let in what must not be there twice."""
    expected = {table.name: _expected(table) for table in (*metadata.sorted_tables, version)}
    present = [name for name in database.tables() if name in expected]
    with database.translated():
        found = _found(inspect(database.connection), present) if present else {}  # no names would mean all
        for table, parts in expected.items():
            if table not in found:
                yield f"table {table}: it is missing"
                continue
            for what, columns in sorted(parts - found[table]):
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


def _found(inspector: Inspector, tables: Sequence[str]) -> dict[str, set[Part]]:
    """What each of ``tables`` consists of: a server is asked once for all of them."""
    found: dict[str, set[Part]] = {table: set() for table in tables}
    for (_, table), columns in inspector.get_multi_columns(filter_names=tables).items():
        found[table] |= {("column", (column["name"],)) for column in columns}
    for (_, table), indexes in inspector.get_multi_indexes(filter_names=tables).items():
        found[table] |= {
            (_index(index["unique"]), tuple(name or "" for name in index["column_names"])) for index in indexes
        }
    for (_, table), uniques in inspector.get_multi_unique_constraints(filter_names=tables).items():
        found[table] |= {(_index(True), tuple(unique["column_names"])) for unique in uniques}
    for (_, table), key in inspector.get_multi_pk_constraint(filter_names=tables).items():
        found[table] |= {("primary key", tuple(key["constrained_columns"]))} if key else set()
    for (_, table), references in inspector.get_multi_foreign_keys(filter_names=tables).items():
        found[table] |= {
            (f"reference to {each['referred_table']}", tuple(each["constrained_columns"])) for each in references
        }
    return found


def _index(unique: bool | None) -> str:
    return "unique index" if unique else "index"
