"""Runs Alembic's migrations on the connection that abistore holds, or on the database of ``alembic -x db=...``."""

from alembic import context
from sqlalchemy import Connection

from abistore.store.database import VERSION_TABLE
from abistore.store.engines import connect
from abistore.store.tables import metadata


def migrate(connection: Connection) -> None:
    """Run the migrations inside the transaction that ``connection`` is in."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def migrate_named_database() -> None:
    """Open the database that the command line names, and migrate it, all or nothing."""
    name = context.get_x_argument(as_dictionary=True).get("db")
    if not name:
        raise SystemExit("name the database: alembic -x db=PATH_OR_URL ...")
    database = connect(name, write=True, create=True, busy_seconds=60)
    try:
        database.prepare()
        with database.rebuilding():
            database.hold_schema()
            migrate(database.connection)
    finally:
        database.close()


if context.is_offline_mode():
    raise SystemExit("migrations need a database: SQL scripts are not supported")
given = context.config.attributes.get("connection")
if given is None:
    migrate_named_database()
else:
    migrate(given)
