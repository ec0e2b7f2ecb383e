"""Stores in PostgreSQL databases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from typing import cast as cast_to
from urllib.parse import quote, quote_plus

import msgspec
from sqlalchemy import (
    ARRAY,
    URL,
    BinaryExpression,
    BindParameter,
    ColumnElement,
    Connection,
    Delete,
    Engine,
    Executable,
    Insert,
    Select,
    Table,
    Text,
    Update,
    any_,
    bindparam,
    cast,
    column,
    create_engine,
    func,
    select,
    text,
)
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.sql.elements import ColumnClause
from sqlalchemy.sql.operators import in_op
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.sql.visitors import replacement_traverse
from sqlalchemy.types import UserDefinedType

from abistore.errors import StoreError
from abistore.installing import how_to_install
from abistore.store.database import AMONG, Database, Row, Values, refused
from abistore.store.tables import CURRENT_VERSION, Parts, inspected
from abistore.urls import masked

CURRENT_VERSION.dialect_options["postgresql"]["where"] = text("superseded = 0")

LOCK: Final = 0x61626973
"""The key of the advisory lock that sessions hold which create or upgrade a store."""

_POSTGRESQL_INDEXES = """
SELECT index.indexrelid::regclass::text, of.relname, pg_get_expr(index.indpred, index.indrelid),
       (SELECT string_agg(quote_ident(attname), ', ' ORDER BY place) FROM unnest(index.indkey) WITH ORDINALITY
        AS key(number, place) JOIN pg_attribute ON attrelid = index.indrelid AND attnum = key.number)
FROM pg_index AS index JOIN pg_class AS of ON of.oid = index.indrelid
WHERE of.relnamespace = current_schema()::regnamespace ORDER BY 1
"""
_IDLE, _IN_ERROR = 0, 3
"""What the driver says of a transaction: there is none, or a statement of it failed."""

_THROUGH_INDEXES = ("enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashagg")
_WITHOUT_INDEXES = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")


class _Json(UserDefinedType[str]):
    """JSON that is written already."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Its name for the server."""
        return "JSON"


def _given(columns: Sequence[ColumnClause[Any]]) -> TableValuedAlias:
    """The rows of one JSON parameter as a table: to bind and to send thousands of values costs more than this."""
    rows = func.json_to_recordset(cast(bindparam("given", type_=Text), _Json))
    return rows.table_valued(*columns, name="given").render_derived(with_types=True)


@lru_cache(maxsize=64)
def _of_rows(statement: Insert | Update | Delete, names: tuple[str, ...]) -> Executable:
    """A statement for many rows, which it takes from the parameter ``given``, in place of one for each row."""
    if isinstance(statement, Insert):
        table = statement.table
        assert isinstance(table, Table)
        given = _given([column(name, table.c[name].type) for name in names])
        return statement.from_select(list(names), select(*given.c))
    types: dict[str, Any] = {}

    def note(element: Any, **_: Any) -> None:
        if isinstance(element, BindParameter) and element.key in names:
            types[element.key] = element.type

    replacement_traverse(statement, {}, note)
    given = _given([column(name, types[name]) for name in names])

    def put(element: Any, **_: Any) -> ColumnElement[Any] | None:
        return given.c[element.key] if isinstance(element, BindParameter) and element.key in names else None

    return cast_to(Executable, replacement_traverse(statement, {}, put))


@lru_cache(maxsize=64)
def _of_array(statement: Executable) -> Executable:
    """A statement whose list of values is one parameter: its text is the same for however many."""

    def put(element: Any, **_: Any) -> ColumnElement[bool] | None:
        if isinstance(element, BinaryExpression) and element.operator is in_op and element.right.key == AMONG.key:
            return element.left == any_(bindparam(AMONG.key, type_=ARRAY(element.left.type)))
        return None

    assert isinstance(statement, Select)
    return cast_to(Executable, replacement_traverse(statement, {}, put))


def _plain(value: object) -> object:
    return f"\\x{value.hex()}" if isinstance(value, bytes) else value


def _as_json(rows: Sequence[Values]) -> str:
    return msgspec.json.encode([{name: _plain(value) for name, value in row.items()} for row in rows]).decode()


class PostgreSQL(Database):
    """A session on a PostgreSQL server."""

    def many(self, statement: Executable, rows: Sequence[Values]) -> None:
        """Execute ``statement`` once a row, or what comes to the same at once."""
        assert isinstance(statement, Insert | Update | Delete)
        if rows:
            self.run(_of_rows(statement, tuple(rows[0])), {"given": _as_json(rows)})

    def returned(self, statement: Insert, rows: Sequence[Values]) -> Sequence[Row]:
        """Insert many rows with a statement that returns columns of them, in any order."""
        return self.rows(_of_rows(statement, tuple(rows[0])), {"given": _as_json(rows)}) if rows else ()

    def within(self, statement: Executable, among: Sequence[Any]) -> Iterator[Row]:
        """The rows of a statement whose condition has a list :data:`AMONG`, however many values that is to have."""
        yield from self.rows(_of_array(statement), {AMONG.key: list(among)}) if among else ()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self._status != _IDLE

    @property
    def aborted(self) -> bool:
        """Whether the server refuses all statements until the transaction ends."""
        return self._status == _IN_ERROR

    @property
    def _status(self) -> int:
        if self.connection.invalidated:
            return _IDLE  # it broke, and its transaction with it
        driver = self.connection.connection.driver_connection
        return int(driver.info.transaction_status) if driver else _IDLE

    def _begin_writing(self) -> None:
        self.command("BEGIN")

    def hold_tables(self, names: Sequence[str]) -> None:
        """Let no other write to these tables until the transaction ends; the first of them is that of the lines."""
        quoted = ", ".join(f'"{name}"' for name in names)
        self.command(f"LOCK TABLE {quoted} IN SHARE ROW EXCLUSIVE MODE")

    def keep_tables_free(self) -> None:
        """Let no other hold whole tables until the transaction ends, so that rows which were read stay."""
        self.command("LOCK TABLE line IN ROW EXCLUSIVE MODE")

    def _begin_reading(self) -> None:
        self.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def tables(self) -> frozenset[str]:
        """The names of all tables."""
        rows = self.command("SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()")
        return frozenset(name for (name,) in rows)

    def parts(self, tables: Sequence[str]) -> Parts:
        """What each of these tables consists of."""
        with self.translated():
            return inspected(self.connection, tables)

    def is_foreign(self) -> bool:
        """Never: nothing but its tables tells whose a database is."""
        return False

    def prepare(self) -> None:
        """Do nothing: the server's configuration decides about its log."""

    def show_as(self, table: str, more: str, *, stored: bool) -> None:
        """A view of this session hides the table."""
        (((schema,),), ((only,),)) = (
            self.command(f"SELECT {word}")
            for word in ("quote_ident(current_schema())", "current_setting('default_transaction_read_only')")
        )
        rows = f'*, {more} FROM {schema}."{table}"' if stored else f"{more} WHERE 1 = 0"
        self.command("SET default_transaction_read_only = off")
        try:
            self.command(f'CREATE TEMP VIEW "{table}" AS SELECT {rows}')
        finally:
            self.command(f"SET default_transaction_read_only = {only}")

    def hold_schema(self) -> None:
        """Keep other sessions from creating or upgrading the schema until the transaction ends."""
        self.command(f"SELECT pg_advisory_xact_lock({LOCK})")

    def mark(self) -> None:
        """Do nothing: its tables tell a store."""

    def size(self) -> int:
        """In bytes, the log included."""
        return int(self.command("SELECT pg_database_size(current_database())")[0][0])

    def vacuum(self) -> None:
        """Give free space back to the disk."""
        self.command("VACUUM")

    def problems(self) -> Iterator[str]:
        """What the database says about itself, and whether its indexes say what its tables do."""
        indexes = self.command(_POSTGRESQL_INDEXES)
        statements = [_sum(*of) for _, *of in indexes]
        through, without = (self._under(off, statements) for off in (_THROUGH_INDEXES, _WITHOUT_INDEXES))
        for (index, table, *_), by_index, by_table in zip(indexes, through, without, strict=True):
            if by_index != by_table:
                yield f"index {index}: it does not say what its table {table} does"

    def _under(self, off: tuple[str, ...], statements: Sequence[str]) -> list[Row]:
        """The one row of each statement, planned without what is ``off``, which an error ends with the transaction."""
        for setting in off:
            self.command(f"SET LOCAL {setting} = off")
        rows: list[Row] = [tuple(self.command(statement)[0]) for statement in statements]
        for setting in off:
            self.command(f"SET LOCAL {setting} TO DEFAULT")
        return rows


def _sum(table: str, condition: str | None, columns: str) -> str:
    where = f" WHERE {condition}" if condition else ""
    # in the index's own order, so that there is one plan when all others are off
    rows = f"SELECT {columns} FROM {table}{where} ORDER BY {columns}"
    hashed = "hashtextextended(said::text, 0)::numeric"
    return f"SELECT count(*), coalesce(sum({hashed}), 0) FROM ({rows}) AS said"


def connect_postgresql(url: URL, *, write: bool, busy_seconds: float) -> PostgreSQL:
    """Open a session. Raises :class:`StoreError` where that cannot be done."""
    where = masked(url.render_as_string(hide_password=True))
    database = PostgreSQL(_postgresql_connection(url, where), where, writable=write)
    database.command(f"SET lock_timeout = {int(busy_seconds * 1000)}")
    if not write:
        database.command("SET default_transaction_read_only = on")
    return database


def _postgresql_connection(url: URL, where: str) -> Connection:
    try:
        return _postgresql_engine(url).connect()
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        message = "the driver for PostgreSQL is not installed"
        raise StoreError(message, how_to_install("postgres")) from error
    except (SQLAlchemyError, TypeError, ValueError) as error:  # the latter two for what the driver cannot read
        raise refused(error, where, _secrets(url)) from error


@lru_cache(maxsize=8)
def _postgresql_engine(url: URL) -> Engine:
    """One for all sessions on a database: it keeps the statements that it has compiled, and what the server is."""
    return create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")


def _secrets(url: URL) -> tuple[str, ...]:
    """The passwords and tokens of the URL, which a driver's message may quote and errors must not show."""
    parameters = [(name, value) for name, values in url.normalized_query.items() for value in values]
    hidden = [value for name, value in parameters if masked(f"{name}=x") != f"{name}=x"]
    known = [*hidden, *([url.password] if url.password else [])]
    return (*known, *map(quote, known), *map(quote_plus, known))
