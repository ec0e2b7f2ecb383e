"""Which schema a database has, and giving an empty one ours."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy import insert, select

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
    rows = database.rows(select(version))
    found = str(rows[0][0]) if len(rows) == 1 else ""
    if not _REVISION.fullmatch(found):
        raise SchemaMismatch(f"{database.where}: the schema's revision is not readable", "restore a backup")
    return found


def create_schema(database: Database) -> bool:
    """Make an empty database a store; false where another process was faster."""
    database.prepare()
    with database.transaction():
        database.hold_schema()
        if revision(database) is not None:
            return False
        database.mark()
        with database.translated():
            metadata.create_all(database.connection, checkfirst=False)
            version.create(database.connection, checkfirst=False)
        database.run(insert(version), {"version_num": HEAD})
        database.run(insert(root), {"id": 1, "libraries": 0, "audit": b""})
        record(database, "", "create", "store", f"schema {HEAD}")
    return True
