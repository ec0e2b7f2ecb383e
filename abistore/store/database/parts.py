"""What the tables of a database consist of: columns, keys, indexes and references, by the database's own account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from sqlalchemy import Connection, inspect

Part: TypeAlias = tuple[str, tuple[str, ...]]
"""What a table consists of, such as a ``unique index`` of some columns."""

Parts: TypeAlias = Mapping[str, set[Part]]
"""The parts of each table."""


def column_part(name: str) -> Part:
    """A column."""
    return "column", (name,)


def key_part(columns: Iterable[str]) -> Part:
    """A primary key."""
    return "primary key", tuple(columns)


def index_part(unique: bool | None, columns: Iterable[str]) -> Part:
    """An index, or a constraint that is kept by one."""
    return "unique index" if unique else "index", tuple(columns)


def reference_part(table: str, columns: Iterable[str]) -> Part:
    """A foreign key."""
    return f"reference to {table}", tuple(columns)


def inspected(connection: Connection, tables: Sequence[str]) -> Parts:
    """The parts of each of ``tables``, by SQLAlchemy: a server is asked once for all of them."""
    found: dict[str, set[Part]] = {table: set() for table in tables}
    if not tables:  # no names would mean all
        return found
    inspector = inspect(connection)
    for (_, table), columns in inspector.get_multi_columns(filter_names=tables).items():
        found[table] |= {column_part(column["name"]) for column in columns}
    for (_, table), indexes in inspector.get_multi_indexes(filter_names=tables).items():
        found[table] |= {
            index_part(index["unique"], (name or "" for name in index["column_names"])) for index in indexes
        }
    for (_, table), uniques in inspector.get_multi_unique_constraints(filter_names=tables).items():
        found[table] |= {index_part(True, unique["column_names"]) for unique in uniques}
    for (_, table), key in inspector.get_multi_pk_constraint(filter_names=tables).items():
        found[table] |= {key_part(key["constrained_columns"])} if key else set()
    for (_, table), references in inspector.get_multi_foreign_keys(filter_names=tables).items():
        found[table] |= {reference_part(each["referred_table"], each["constrained_columns"]) for each in references}
    return found
