"""One open connection to a store's database: statements, transactions, and errors for users."""

from __future__ import annotations

import random
import re
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import (
    BindParameter,
    ClauseElement,
    Connection,
    Dialect,
    Executable,
    Insert,
    Table,
    UpdateBase,
    bindparam,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, PendingRollbackError
from sqlalchemy.sql import SyntaxExtension

from abistore.errors import AuditRewritten, DamagedStore, SchemaMismatch, StoreBusy, StoreError, UsageError
from abistore.model.history import AuditHead, AuditRecord
from abistore.model.snapshot import digest, encode
from abistore.store.tables import audit, root, version
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.store.tables import Parts


class _DoNothing(SyntaxExtension, ClauseElement):
    def apply_to_insert(self, insert_stmt: Insert) -> None:
        """Stand behind the values."""
        insert_stmt.apply_syntax_extension_point(lambda _: [text("ON CONFLICT DO NOTHING")], "post_values")


def insert_new(table: Table) -> Insert:
    """An ``INSERT`` into ``table`` that leaves out rows which are there."""
    return insert(table).ext(_DoNothing())


_READ_ONLY = "make the file and its folder writable, or give another database with --db"
_FULL = "free some space; the store was not changed"

_OURS = frozenset({"syntax error", "incomplete input", "unrecognized token", "42601", "42P02"})
"""Errors that only a wrong statement of ours gives. Any other statement that fails tells that the schema is damaged."""

_UNFIT = frozenset({"55000", "0A000"})
"""What PostgreSQL says where a view stands in place of a table, and cannot be written."""


def failure(error: Exception, where: str, secrets: Iterable[str] = ()) -> StoreError | None:
    """The store error for ``error`` of the database called ``where``; ``None`` where it can only be a bug of ours.

    ``error`` is the driver's, or SQLAlchemy's around it; what it quotes of ``secrets`` is hidden.
    """
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        return _sqlite(cause, where)
    from psycopg import DataError, OperationalError  # it is not SQLite's, so that this driver is in use

    text = masked(" ".join(str(cause).split()), secrets)
    known = _postgresql(getattr(cause, "sqlstate", None), text, where)
    if known is None and isinstance(cause, DataError):
        return StoreError(f"{where}: PostgreSQL cannot hold this snapshot ({text})", "store it in an SQLite file")
    if known is None and isinstance(cause, OperationalError):
        return _operational(getattr(cause, "sqlstate", None), text, where)
    return known


def _operational(state: str | None, text: str, where: str) -> StoreError:
    """Why a server could not do what was asked; without a ``state``, none answered."""
    if state is None or state.startswith(("08", "28", "3D", "57P")):
        return _unconnected(text, where)
    if state.startswith("54"):
        return StoreError(f"{where}: larger than PostgreSQL supports ({text})", "store it in an SQLite file")
    return StoreError(f"{where}: the server rejects this ({text})", "see the server's log, and retry")


def refused(error: Exception, where: str, secrets: Iterable[str]) -> StoreError:
    """The store error for what went wrong while a connection was made."""
    text = " ".join(str(getattr(error, "orig", None) or error).split())
    known = failure(error, where, secrets) if hasattr(error, "orig") else None
    return known or _unconnected(masked(text, secrets), where)


def _unconnected(text: str, where: str) -> StoreError:
    return StoreError(f"{where}: no connection ({text})", "check the URL, and that the server runs")


def damaged(where: str, detail: str) -> DamagedStore:
    """The error for a database whose content cannot be read."""
    return DamagedStore(f"{where}: the database is damaged ({detail})")


def _sqlite(cause: sqlite3.Error, where: str) -> StoreError | None:
    if "decode to UTF-8" in str(cause):  # the driver's own error, without a code
        return damaged(where, "a text in it is not UTF-8")
    match getattr(cause, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{where}: another process locks the database", "wait for it, and retry")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreError(f"{where}: the database is read-only", _READ_ONLY)
        case sqlite3.SQLITE_FULL:
            return StoreError(f"{where}: no space left for the database", _FULL)
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"{where}: the database cannot be read or written ({cause})", "check the disk; " + _FULL)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return StoreError(f"{where}: the database cannot be opened ({cause})", "check the path and its permissions")
        case sqlite3.SQLITE_NOTADB:
            return SchemaMismatch(
                f"{where}: not a database", "give the path of a store, or of a file yet to be created"
            )
        case sqlite3.SQLITE_CORRUPT:
            return damaged(where, str(cause))
        case sqlite3.SQLITE_CONSTRAINT | sqlite3.SQLITE_MISMATCH:
            return damaged(where, str(cause))
        case sqlite3.SQLITE_ERROR if not any(ours in str(cause) for ours in _OURS):
            return damaged(where, f"its schema: {cause}")
        case sqlite3.SQLITE_TOOBIG:
            return StoreError(f"{where}: a value is larger than the database can hold ({cause})")
    return None


def _postgresql(state: str | None, text: str, where: str) -> StoreError | None:
    match state:
        case "55P03" | "40P01" | "40001" | "57014":
            return StoreBusy(f"{where}: another session locks the database", "wait for it, and retry")
        case "25006" | "42501":
            return StoreError(f"{where}: the database may not be written ({text})", "request write permission for it")
        case "53100":
            return StoreError(f"{where}: no space left for the database", _FULL)
        case "XX001" | "XX002":
            return StoreError(f"{where}: the database is damaged ({text})", "restore a backup")
    if state is None or state in _OURS:
        return None
    if state.startswith("42") or state in _UNFIT:
        return damaged(where, f"its schema: {text}")
    return damaged(where, text) if state.startswith("23") else None


_CONFLICTS: Final = frozenset({"40P01", "40001"})
"""What PostgreSQL says where two transactions cannot both be done: a deadlock, or a serialisation failure."""

ATTEMPTS: Final = 6
PAUSE: Final = 0.05
"""So often is a transaction begun that meets such conflicts; in seconds, what it waits for at most after the first."""


def _is_conflict(error: StoreBusy) -> bool:
    """Whether the transaction may well be done if it is begun again at once."""
    return getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) in _CONFLICTS


Answer = TypeVar("Answer")
Row: TypeAlias = Sequence[Any]
Values: TypeAlias = Mapping[str, Any]

CHUNK = 900
"""How many values one ``IN`` list carries: below every database's limit of parameters."""

NONE: Final[Values] = {}

_AS_IT_IS: Final = {"no_parameters": True}
"""How a statement is run in which no sign stands for a value."""

AMONG: Final[BindParameter[Any]] = bindparam("among", expanding=True)
"""The list of values of :meth:`Database.within`: ``column.in_(AMONG)``."""


class _Driven(NamedTuple):
    """A statement as a driver takes it, its ``constants``, and their order where the driver asks for one.

    SQLAlchemy makes the values of each row anew, which takes as long as the database takes to write it.
    """

    text: str
    constants: Values
    order: tuple[str, ...] | None

    def values(self, rows: Sequence[Values]) -> list[Any]:
        """The values of rows."""
        if self.order is None:
            return [{**self.constants, **row} for row in rows]
        if self.constants:
            rows = [{**self.constants, **row} for row in rows]
        order = self.order
        return [tuple([row[name] for name in order]) for row in rows]


def _driven(statement: UpdateBase, dialect: Dialect, row: Values) -> _Driven:
    compiled = statement.compile(dialect=dialect, column_keys=[*row])
    order = None if compiled.positiontup is None else tuple(compiled.positiontup)
    constants = {name: value for name, value in compiled.params.items() if name not in row}
    return _Driven(str(compiled), constants, order)


class Database(ABC):
    """A connection in autocommit mode, on which transactions begin and end where the store says.

    Statements are SQLAlchemy Core expressions over :mod:`abistore.store.tables`, the same for all databases;
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
        self._many: dict[tuple[Any, ...], _Driven] = {}

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

    def many(self, statement: UpdateBase, rows: Sequence[Values]) -> None:
        """Execute ``statement`` once a row; all rows have values of the same names, as the driver takes them."""
        if rows:
            key = (statement, *rows[0])
            made = self._many.get(key)
            if made is None:
                made = self._many[key] = _driven(statement, self.connection.dialect, rows[0])
            with self.translated():
                self.connection.exec_driver_sql(made.text, made.values(rows))

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

    def retried(self, act: Callable[[], Answer]) -> Answer:
        """What ``act`` returns, which does all in one transaction: after a conflict with another writer, once more.

        Raises :class:`StoreBusy` after :data:`ATTEMPTS`. Within a transaction, whoever began that has to begin again.
        """
        attempts = 1 if self.in_transaction else ATTEMPTS
        for attempt in range(1, attempts):
            try:
                return act()
            except StoreBusy as error:
                if not _is_conflict(error):
                    raise
            time.sleep(random.uniform(0, PAUSE * 2**attempt))
        return act()

    def hold_end(self) -> None:
        """Be the only writer of what all share until the transaction ends: sums over rows, and the audit's end."""
        self.rows(_END)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """A transaction that stores several releases. Of such, one at a time: two would wait for rows of each other."""
        with self.transaction():
            self.hold_end()
            yield

    @contextmanager
    def part(self) -> Iterator[None]:
        """A part of a transaction: where it fails, it alone is undone."""
        self.command("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._undo_part()
            raise
        self.command("RELEASE SAVEPOINT part")

    def _undo_part(self) -> None:
        if not self.connection.invalidated and self.in_transaction:
            with suppress(DBAPIError, StoreError):  # a broken connection; what broke it is being raised
                self.command("ROLLBACK TO SAVEPOINT part")

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
    def show_as(self, table: str, more: str, *, stored: bool) -> None:
        """Have statements of this connection see a table with ``more`` columns, which are expressions.

        One that is not ``stored`` is seen empty, with these columns alone.
        """

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
        except PendingRollbackError as error:  # SQLAlchemy's word for a statement after the connection broke
            raise _unconnected("it was lost before", self.where) from error
        except UnicodeDecodeError as error:
            raise damaged(self.where, "a text in it is not UTF-8") from error

    def _roll_back(self) -> None:
        # SQLite ends a transaction itself on a full disk, and SQLAlchemy a connection that was interrupted
        if not self.connection.invalidated and self.in_transaction:
            with suppress(DBAPIError, StoreError):  # a broken connection; what broke it is being raised
                self.command("ROLLBACK")


_END = select(root.c.audit).with_for_update()
_SAID = ("at", "actor", "action", "subject", "detail")
_RECORD = insert(audit)
_MOVE_END = update(root)
_LAST = (
    select(audit.c.at, audit.c.actor, audit.c.action, audit.c.subject, audit.c.detail, audit.c.digest, root.c.audit)
    .select_from(root.outerjoin(audit, literal(True)))
    .order_by(audit.c.id.desc())
    .limit(bindparam("most"))
)
_NEXT = (
    select(audit.c.id, audit.c.digest, audit.c.at, audit.c.actor, audit.c.action, audit.c.subject, audit.c.detail)
    .where(audit.c.id > bindparam("last"))
    .order_by(audit.c.id)
    .limit(5000)
)
_TOGETHER: Final = 1000
"""So many records of another store are written at once."""

_CHAIN_END = select(root.c.audit, select(func.max(audit.c.id)).scalar_subquery())
_COUNT_SINCE = select(func.count()).select_from(audit).where(audit.c.id > bindparam("last"))
_DIGEST_AT = select(audit.c.digest).where(audit.c.id == bindparam("number"))

_TAKEN = re.compile(r"(.*) of ([0-9a-f]{32})")
"""The action of a record that came from another store: what it was there, and the digest that it had."""


def now() -> str:
    """This moment as the store writes it: ISO 8601, UTC, microseconds, always of one length."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """``moment`` as the store writes it; a naive one is taken as UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="microseconds")


def record(database: Database, actor: str, action: str, subject: str, detail: str) -> None:
    """Note a mutation, as the last statement of its transaction: all writers meet at the end of the chain."""
    ((before,),) = database.rows(_END)
    said = (now(), actor, action, subject, masked(detail))
    after = link(before, said)
    database.run(_RECORD, dict(zip((*_SAID, "digest"), (*said, after), strict=True)))
    database.run(_MOVE_END, {"audit": after})


def link(before: bytes, said: Sequence[str]) -> bytes:
    """The digest of a row that says ``said`` after the row with the digest ``before`` (empty: the first one)."""
    return digest(encode((before, *said)))


def records(database: Database, limit: int = 100) -> tuple[AuditRecord, ...]:
    """The last ``limit`` mutations, newest first. Raises :class:`StoreError` where one was changed or taken away."""
    rows = database.rows(_LAST, {"most": limit + 1})
    expected = rows[0][-1] if rows else None
    kept = [row for row in rows if row[0] is not None]
    if not kept and expected != b"":
        raise damaged(database.where, "the audit is missing")
    for number, row in enumerate(kept[:limit]):
        before = kept[number + 1][5] if number + 1 < len(kept) else b""
        if row[5] != expected or link(before, row[:5]) != expected:
            raise damaged(database.where, f"the audit was changed, or lacks a row, at {row[0]}")
        expected = before
    return tuple(_record(row) for row in kept[:limit])


def _record(row: Sequence[str]) -> AuditRecord:
    at, actor, action, subject, detail, *_ = row
    taken = _TAKEN.fullmatch(action)
    action, origin = taken.groups() if taken else (action, "")
    return AuditRecord(datetime.fromisoformat(at), actor, action, subject, detail, origin)


def every(database: Database) -> Iterator[tuple[str, Sequence[str]]]:
    """All records, oldest first, as the store has them where they were written: the digest there, and what they say.

    Raises :class:`StoreError` where one was changed or taken away.
    """
    verify(database)
    last = -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        for _, found, at, actor, action, subject, detail in rows:
            taken = _TAKEN.fullmatch(action)
            action, origin = taken.groups() if taken else (action, bytes(found).hex())
            yield origin, (at, actor, action, subject, detail)


def concerns(subject: str, libraries: Collection[str], digests: Collection[str]) -> bool:
    """Whether a record's subject is one of these libraries, or something of it, or names one of these contents."""
    return re.split(r"[@ ]", subject)[0] in libraries or any(word in digests for word in subject.split(" "))


def origins(database: Database) -> set[bytes]:
    """The digests of the records of the audit; of those of another store, the digests that they had there."""
    return {bytes.fromhex(origin) for origin, _ in every(database)}


def take_over(database: Database, told: Iterable[tuple[str, Sequence[str]]], known: Container[bytes]) -> int:
    """Note what the audit of another store says and is not ``known`` by :func:`origins`; how many records that were."""
    new = ((origin, said) for origin, said in told if bytes.fromhex(origin) not in known)
    ((before,),) = database.rows(_END)
    count = 0
    while some := list(islice(new, _TOGETHER)):
        rows = []
        for origin, (at, actor, action, subject, detail) in some:
            said = (at, actor, f"{action} of {origin}", subject, masked(detail))
            before = link(before, said)
            rows.append(dict(zip((*_SAID, "digest"), (*said, before), strict=True)))
        database.many(_RECORD, rows)
        count += len(rows)
    database.run(_MOVE_END, {"audit": before})
    return count


def all_records(database: Database) -> Iterator[AuditRecord]:
    """All mutations, oldest first. Raises :class:`StoreError` where one was changed or taken away."""
    verify(database)
    last = -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        yield from (_record(row[2:]) for row in rows)


class AuditPage(NamedTuple):
    """Records in their order, each with its number and digest; the cursor behind them, and whether there are more."""

    records: list[tuple[int, str, AuditRecord]]
    cursor: str
    more: bool = False


def records_after(database: Database, last: int | None, key: str, limit: int | None = None) -> AuditPage:
    """The records after number ``last``, which has the digest ``key``; none, and the cursor of the end, for ``None``.

    Raises :class:`UsageError` where that record is not of this store, and :class:`StoreError` for a broken chain.
    """
    ((end, number),) = database.rows(_CHAIN_END)
    if last is None:
        return AuditPage([], f"{number or 0}-{bytes(end).hex()}")
    if last and [bytes(row[0]).hex() for row in database.rows(_DIGEST_AT, {"number": last})] != [key]:
        raise UsageError("the cursor is not one of this store", "was a backup restored? begin with --since start")
    before, found = bytes.fromhex(key), list[tuple[int, str, AuditRecord]]()
    while rows := database.rows(_NEXT, {"last": last}):
        for number, digest_, *said in rows:
            if limit is not None and len(found) >= limit:
                return AuditPage(found, f"{last}-{before.hex()}", True)
            if link(before, said) != digest_:
                raise damaged(database.where, f"the audit was changed, or lacks a row, at {said[0]}")
            before, last = digest_, number
            found.append((number, bytes(digest_).hex(), _record(said)))
    if before != end:
        raise damaged(database.where, "the audit lacks its last rows")
    return AuditPage(found, f"{last}-{before.hex()}")


def verify(database: Database) -> None:
    """Follow the whole chain. Raises :class:`StoreError` where a row was changed or taken away."""
    before, last = b"", -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        for _, found, *said in rows:
            if link(before, said) != found:
                raise damaged(database.where, f"the audit was changed, or lacks a row, at {said[0]}")
            before = found
    records(database, 1)  # the chain ends where the root says


def head(database: Database) -> AuditHead:
    """The head of the whole chain. Raises :class:`StoreError` where a row was changed or taken away."""
    verify(database)
    ((end, number),) = database.rows(_CHAIN_END)
    return AuditHead(number or 0, bytes(end).hex())


def records_since(database: Database, known: AuditHead) -> int:
    """How many records were added since ``known`` was the head.

    Raises :class:`AuditRewritten` where it is not in the chain: the audit was written anew, or lacks its last records.
    """
    now = head(database)
    if now.number < known.number:
        lost = f"the newest is number {now.number:,}, and was number {known.number:,} when the head was signed"
        raise AuditRewritten(f"{database.where}: the audit lacks its last records: {lost}")
    found = [bytes(row[0]).hex() for row in database.rows(_DIGEST_AT, {"number": known.number})]
    if known.number and found != [known.digest]:
        changed = f"a record up to number {known.number:,} was changed since it was signed"
        raise AuditRewritten(f"{database.where}: {changed}")
    ((count,),) = database.rows(_COUNT_SINCE, {"last": known.number})
    return int(count)


HEAD: Final = "0018"
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
