"""One open connection to a store's database: statements, transactions, and errors that a user can act on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import BindParameter, Connection, Executable, Insert, bindparam
from sqlalchemy.exc import DBAPIError

from abistore.errors import StoreError
from abistore.store.database.failures import damaged, failure

if TYPE_CHECKING:
    from abistore.store.database.parts import Parts

Row: TypeAlias = Sequence[Any]
Values: TypeAlias = Mapping[str, Any]

CHUNK = 900
"""How many values one ``IN`` list carries: below every database's limit of parameters."""

NONE: Final[Values] = {}

_AS_IT_IS: Final = {"no_parameters": True}
"""How a statement is run in which no sign stands for a value."""

AMONG: Final[BindParameter[Any]] = bindparam("among", expanding=True)
"""The list of values of :meth:`Database.within`: ``column.in_(AMONG)``."""


class Database(ABC):
    """A connection in autocommit mode, on which transactions begin and end where the store says.

    Statements are SQLAlchemy Core expressions over :mod:`abistore.store.database.tables`, the same for all databases;
    those that a module keeps are compiled once. What databases do each in its own way is a method here.
    ``where`` is the database as messages call it: a path, or a URL without its password. ``path`` is an SQLite file's,
    and ``new_folder`` the outermost folder that was made for that.
    """

    path: Path | None = None
    new_folder: Path | None = None

    def __init__(self, connection: Connection, where: str, *, writable: bool) -> None:
        self.connection = connection
        self.where = where
        self.writable = writable

    # statements

    def rows(self, statement: Executable, values: Values = NONE) -> Sequence[Row]:
        """All rows that ``statement`` gives."""
        with self.translated():
            return self.connection.execute(statement, values).all()

    def each(self, statement: Executable) -> Iterator[Row]:
        """All rows that ``statement`` gives, some at a time."""
        with self.translated(), self.connection.execute(statement) as result:
            for rows in result.partitions(CHUNK):
                yield from rows

    def run(self, statement: Executable, values: Values = NONE) -> None:
        """Execute a statement without a result."""
        with self.translated():
            self.connection.execute(statement, values)

    def many(self, statement: Executable, rows: Sequence[Values]) -> None:
        """Execute ``statement`` once a row."""
        if rows:
            with self.translated():
                self.connection.execute(statement, rows)

    def insert(self, statement: Insert, values: Values) -> int:
        """Insert one row and return its ``id``."""
        with self.translated():
            key = self.connection.execute(statement, values).inserted_primary_key
            assert key is not None
            return int(key[0])

    def returned(self, statement: Insert, rows: Sequence[Values]) -> Sequence[Row]:
        """Insert many rows with a statement that returns columns of them, in any order."""
        if not rows:
            return ()
        with self.translated():
            return self.connection.execute(statement, rows).all()

    def within(self, statement: Executable, among: Sequence[Any]) -> Iterator[Row]:
        """The rows of a statement whose condition has a list :data:`AMONG`, however many values that is to have."""
        for start in range(0, len(among), CHUNK):
            yield from self.rows(statement, {"among": among[start : start + CHUNK]})

    def command(self, statement: str) -> Sequence[Row]:
        """The rows, if any, of a statement that no expression spells: a setting, ``VACUUM``, ``BEGIN``."""
        with self.translated():
            result = self.connection.exec_driver_sql(statement, execution_options=_AS_IT_IS)
            return result.all() if result.returns_rows else ()

    # transactions

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on SQLite the one writer from its first statement on. Within another one, a part of it."""
        if not self.writable:
            raise StoreError(f"{self.where}: the database was opened for reading only", "open it for writing")
        if self.in_transaction:
            yield
            return
        self._begin_writing()
        try:
            yield
            self.command("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @abstractmethod
    def hold_tables(self, names: Sequence[str]) -> None:
        """Let no other write to these tables until the transaction ends; the first of them is that of the lines."""

    @abstractmethod
    def keep_tables_free(self) -> None:
        """Let no other hold whole tables until the transaction ends, so that rows which were read stay."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within is of one moment, whatever others write meanwhile; in a transaction, of that one."""
        if self.in_transaction:
            yield
            return
        self._begin_reading()
        try:
            yield
        finally:
            self._roll_back()

    def go_on(self, error: StoreError) -> None:
        """Raises ``error`` where the transaction takes no further statement after it."""
        if self.aborted:
            raise error

    @property
    @abstractmethod
    def aborted(self) -> bool:
        """Whether a statement failed, and all others of its transaction are refused until it ends."""

    def close(self) -> None:
        """Release the connection."""
        self.connection.close()
        self.connection.engine.dispose()

    @abstractmethod
    def _begin_writing(self) -> None: ...

    @abstractmethod
    def _begin_reading(self) -> None: ...

    # what each database does in its own way

    @abstractmethod
    def tables(self) -> frozenset[str]:
        """The names of all tables."""

    @abstractmethod
    def parts(self, tables: Sequence[str]) -> Parts:
        """What each of these tables consists of."""

    @abstractmethod
    def is_foreign(self) -> bool:
        """Whether the database says that it is another program's."""

    @abstractmethod
    def prepare(self) -> None:
        """What a new store needs before the transaction that creates it."""

    @abstractmethod
    def show_as(self, table: str, more: str) -> None:
        """Have statements of this connection see a table with ``more`` columns, which are expressions."""

    @abstractmethod
    def hold_schema(self) -> None:
        """Keep other sessions from creating or upgrading the schema until the transaction ends."""

    @abstractmethod
    def mark(self) -> None:
        """Note that the database is a store, where it can be told apart by more than its tables."""

    @contextmanager
    def rebuilding(self) -> Iterator[None]:
        """A transaction in which tables may be rebuilt."""
        with self.transaction():
            yield

    @abstractmethod
    def size(self) -> int:
        """In bytes, the log included."""

    @abstractmethod
    def vacuum(self) -> None:
        """Give free space back to the disk."""

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """What the database says about itself, and whether its indexes say what its tables do."""

    # errors

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn a driver's error into a :class:`StoreError` where a user can do something about it."""
        try:
            yield
        except DBAPIError as error:
            known = failure(error, self.where)
            if known is None:
                raise
            raise known from error
        except UnicodeDecodeError as error:
            raise damaged(self.where, "a text in it is not UTF-8") from error

    def _roll_back(self) -> None:
        # SQLite ends a transaction itself on a full disk, and SQLAlchemy a connection that was interrupted
        if not self.connection.invalidated and self.in_transaction:
            with suppress(DBAPIError, StoreError):  # a broken connection; what broke it is being raised
                self.command("ROLLBACK")
