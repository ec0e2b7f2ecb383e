"""Which schema a database has, and giving an empty one ours."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from sqlalchemy import create_mock_engine, insert, select
from sqlalchemy.schema import ExecutableDDLElement

from abistore.errors import SchemaMismatch
from abistore.store.database.audit import record
from abistore.store.database.database import Database
from abistore.store.database.tables import metadata, root, version

HEAD: Final = "0016"
"""The newest revision in ``migrations/``. Revisions are consecutive four-digit numbers, so that age is comparable."""

VERSION_TABLE: Final = version.name

_REVISION: Final = re.compile(r"(?!0000)[0-9]{4}")


def revision(database: Database) -> str | None:
    """The schema revision that the database carries; ``None`` where it is empty.

    Raises :class:`SchemaMismatch` where it is not a store.
    """
    tables = database.tables()
    if database.is_foreign() or (tables and VERSION_TABLE not in tables):
        raise SchemaMismatch(f"{database.where}: a database of another program", "give the path of a store")
    if not tables:
        return None
    rows = database.rows(select(version.c.version_num))
    found = str(rows[0][0]) if len(rows) == 1 else ""
    if not _REVISION.fullmatch(found):
        raise SchemaMismatch(f"{database.where}: the schema's revision is not readable", "restore a backup")
    return found


@cache
def _statements(dialect: str) -> tuple[str, ...]:
    """What makes all tables: spelled once, however many stores a process makes."""
    found: list[str] = []

    def note(statement: ExecutableDDLElement, *_: object, **__: object) -> None:
        found.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", note)
    metadata.create_all(engine, checkfirst=False)
    version.create(engine, checkfirst=False)
    return tuple(found)


def create_schema(database: Database) -> bool:
    """Make an empty database a store; false where another process was faster."""
    database.prepare()
    with database.transaction():
        database.hold_schema()
        if revision(database) is not None:
            return False
        database.mark()
        dialect = database.connection.dialect
        with database.translated():
            for statement in _statements(f"{dialect.name}+{dialect.driver}"):
                database.connection.exec_driver_sql(statement)
        database.run(insert(version), {"version_num": HEAD})
        database.run(insert(root), {"id": 1, "libraries": 0, "audit": b""})
        record(database, "", "create", "store", f"schema {HEAD}")
    return True
