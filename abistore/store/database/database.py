"""One open connection to a store's database: statements, transactions, and errors that a user can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abistore.errors import StoreBusy, StoreError
from abistore.store.database.failures import damaged, failure

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

Row = Sequence[Any]

CHUNK = 900
"""How many values one ``IN`` list carries: below every database's limit of parameters."""

TURN = 250
"""Milliseconds of one turn of waiting for a lock."""


@dataclass(frozen=True, slots=True)
class Database:
    """A connection in autocommit mode. Statements are written with ``?`` for parameters, whatever the driver wants.

    ``driver`` is the DB-API connection, to which statements go directly: importing SQLAlchemy takes longer than most
    commands, and only what makes or migrates tables needs it. ``engine`` gives SQLAlchemy's, around this connection.
    ``errors`` are the classes that the driver raises.
    ``where`` is the database as messages call it: a path, or a URL without its password.
    """

    driver: Any
    errors: tuple[type[Exception], ...]
    engine: Callable[[], Engine]
    where: str
    path: Path | None
    writable: bool

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is an SQLite file."""
        return self.path is not None

    def rows(self, statement: str, parameters: tuple[Any, ...] = ()) -> Sequence[Row]:
        """All rows that ``statement`` gives."""
        with self.translated(), closing(self.driver.cursor()) as cursor:
            cursor.execute(self._native(statement), parameters)
            found: list[Row] = cursor.fetchall()
            return found

    def each(self, statement: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
        """All rows that ``statement`` gives, some at a time."""
        with self.translated(), closing(self.driver.cursor()) as cursor:
            cursor.execute(self._native(statement), parameters)
            while rows := cursor.fetchmany(CHUNK):
                yield from rows

    def run(self, statement: str, parameters: tuple[Any, ...] = ()) -> None:
        """Execute a statement without a result."""
        with self.translated(), closing(self.driver.cursor()) as cursor:
            cursor.execute(self._native(statement), parameters)

    def many(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Execute ``statement`` once a row."""
        if rows:
            with self.translated(), closing(self.driver.cursor()) as cursor:
                cursor.executemany(self._native(statement), rows)

    def insert(self, statement: str, parameters: tuple[Any, ...]) -> int:
        """Execute an ``INSERT`` of one row and return its ``id``."""
        return int(self.rows(f"{statement} RETURNING id", parameters)[0][0])

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Iterator[Row]:
        """Insert the rows that are not there yet, and give those back."""
        many = CHUNK // len(columns)
        row = f"({', '.join('?' * len(columns))})"
        for start in range(0, len(rows), many):
            chunk = rows[start : start + many]
            statement = (
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * len(chunk))} "
                f"ON CONFLICT DO NOTHING RETURNING {', '.join(columns)}"
            )
            yield from self.rows(statement, tuple(value for each in chunk for value in each))

    def within(self, statement: str, values: Sequence[Any], *leading: Any) -> Iterator[Row]:
        """The rows of ``statement``, whose ``{}`` stands for a list of ``values``, however many these are."""
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK]
            yield from self.rows(statement.format(",".join("?" * len(chunk))), (*leading, *chunk))

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        if self.is_sqlite:
            return bool(self.driver.in_transaction)
        return bool(self.driver.info.transaction_status)  # IDLE is 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on SQLite the one writer from its first statement on. Within another one, a part of it."""
        if not self.writable:
            raise StoreError(f"{self.where}: the database was opened for reading only")
        if self.in_transaction:
            yield
            return
        if self.is_sqlite:
            self._begin_in_turns()
        else:
            self.run("BEGIN")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within is of one moment, whatever others write meanwhile; in a transaction, of that one."""
        if self.in_transaction:
            yield
            return
        self.run("BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self._roll_back()

    def _begin_in_turns(self) -> None:
        """Waits for SQLite's write lock as long as the busy timeout says, and heeds an interrupt after each turn.

        Python does not see a signal while SQLite sleeps.
        """
        ((patience,),) = self.rows("PRAGMA busy_timeout")
        self.run(f"PRAGMA busy_timeout = {min(patience, TURN)}")
        try:
            for _ in range(patience // TURN):
                with suppress(StoreBusy):
                    self.run("BEGIN IMMEDIATE")
                    return
            self.run("BEGIN IMMEDIATE")
        finally:
            self.run(f"PRAGMA busy_timeout = {patience}")

    @contextmanager
    def translated(self, *others: type[Exception]) -> Iterator[None]:
        """Turn a driver's error into a :class:`StoreError` where a user can do something about it.

        ``others`` are errors that carry one of the driver's.
        """
        try:
            yield
        except (*self.errors, *others) as error:
            known = failure(error, self.where)
            if known is None:
                raise
            raise known from error
        except UnicodeDecodeError as error:
            raise damaged(self.where, "a text in it is not UTF-8") from error

    @contextmanager
    def alchemy(self) -> Iterator[Connection]:
        """This very connection as SQLAlchemy knows it; a transaction may begin and must end meanwhile.

        SQLAlchemy rolls back what it finds when it takes and gives back a connection.
        """
        from sqlalchemy.exc import DBAPIError

        with self.translated(DBAPIError), self.engine().connect() as connection:
            connection.begin()  # or Alembic would begin, and end, a transaction of its own
            yield connection

    def close(self) -> None:
        """Release the connection."""
        self.driver.close()

    def _native(self, statement: str) -> str:
        return statement if self.is_sqlite else statement.replace("?", "%s")

    def _roll_back(self) -> None:
        if self.is_sqlite and not self.driver.in_transaction:
            return  # SQLite has ended the transaction itself, as it does on a full disk
        with suppress(*self.errors):  # a broken connection; what broke it is being raised
            self.driver.execute("ROLLBACK").close()
