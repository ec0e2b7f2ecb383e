"""Whatever is changed behind a store's back: what is read is what was stored, or an error that names what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from operator import methodcaller
from typing import TypeAlias

import msgspec
import pytest
from sqlalchemy import Column, LargeBinary, Table, Text

from abistore.errors import StoreError
from abistore.model.findings import Churn, Comparison, Finding, Impact, NotChecked, RulingKey, Verdict
from abistore.model.history import LineKey, Release, StoredVerdict
from abistore.store import store as checking
from abistore.store.database import Database
from abistore.store.releases import every
from abistore.store.store import Store
from abistore.store.tables import metadata
from tests.statements import Statement, recorded
from tests.store.builders import X86, record
from tests.store.schemas.build import fill
from tests.store.sql import sql
from tests.subjects import assert_each

TABLES = metadata.sorted_tables
COLUMNS = [column for table in TABLES for column in table.columns]
ALL = sys.maxsize

JUDGED = LineKey("liblarge", str(X86))
PAIRS = (("1.0", "1.1"), ("1.1", "1.2"))

RELEASES = {"liblarge": ("1.0", "1.1", "1.2", "1.3", "candidate:2.0"), "libgeo": ("R_1",)}
POINTERS = {"liblarge": ("latest", "prev", "baseline"), "libgeo": ("latest",)}
"""What leads to one of the releases."""

NAMES = {"liblarge": ("geo::Shape0", "_ZN3geo0normEv", "geo::norm1", "geo_norm"), "libgeo": ("geo::Shape0", "geo_norm")}
"""What is stored in a library, and what is stored in the other one."""

ONLY_ORDER = {"audit.id", "root.id"}
"""Ids that nothing refers to: another one in the same order says the same."""


Ask: TypeAlias = Callable[[str, Callable[[Store], object]], object]
"""Gives the answer to a question that has a name."""


class _Undone(Exception):
    """Ends a transaction that is not to be kept."""


@contextmanager
def changed(database: Database, statement: str, *values: object) -> Iterator[bool]:
    """The database after a statement, for as long as this lasts: false where the database itself refuses it."""
    with suppress(_Undone), database.transaction():
        try:
            sql(database, statement, *values)
            done = True
        except StoreError:
            done = False
        yield done
        raise _Undone


def answer(store: Store, read: Callable[[Store], object]) -> object:
    """What a reader says, or that it says nothing."""
    try:
        return read(store)
    except StoreError as error:
        assert error.message
        return StoreError


def answers(ask: Ask) -> dict[str, object]:
    """What a store says about all that it holds."""
    said: dict[str, object] = {}

    def asked(what: str, read: Callable[[Store], object]) -> object:
        said[what] = ask(what, read)
        return said[what]

    lines = asked("lines", Store.lines)
    asked("baselines", Store.baselines)
    asked("audit", Store.audit)
    asked("reviews", Store.reviews)
    asked("approvals", Store.approvals)
    asked("consumers", Store.consumers)
    asked("what consumers import", Store.consumer_imports)
    asked("what consumers were built with", Store.consumer_types)
    asked("environments", Store.environments)
    asked("rules", Store.rules)
    asked("findings", methodcaller("findings", "", 100))
    asked("verdicts", methodcaller("verdict_summaries", JUDGED, "e"))
    for library in RELEASES:
        asked(f"releases of {library}", methodcaller("releases", library))
        asked(f"candidates of {library}", methodcaller("candidates", library))
        asked(f"baselines of {library}", methodcaller("baseline_history", library))
        asked(f"scheme of {library}", methodcaller("scheme", library))
        for version in (*RELEASES[library], *POINTERS[library]):
            asked(f"{library}@{version}", methodcaller("resolve", f"{library}@{version}"))
        for version in RELEASES[library]:
            release = said[f"{library}@{version}"]
            if isinstance(release, Release):
                asked(f"content of {library}@{version}", methodcaller("load", release))
        for name in NAMES[library]:
            if isinstance(lines, tuple) and library in {line.library for line in lines}:
                asked(f"log of {name} in {library}", partial(log, library, name))
            else:  # it is not told which libraries there are
                said[f"log of {name} in {library}"] = StoreError
    for old, new in ([said[f"liblarge@{version}"] for version in pair] for pair in PAIRS):
        if isinstance(old, Release) and isinstance(new, Release):
            judged = methodcaller("find_verdict", old, new, RulingKey(), "e")
            asked(f"verdict of {old.version} {new.version}", judged)
    return said


def log(library: str, name: str, store: Store) -> object:
    return store.logs([name], library) or StoreError


def others(column: Column[object], value: object, rows: list[object]) -> list[object]:
    """Values that a column may have in place of its own: near ones, and those of other rows."""
    found: list[object] = [other for other in dict.fromkeys(rows) if other != value][:3]
    if isinstance(value, bytes):
        found += [value[:-1] + bytes([value[-1] ^ 1]), b""] if value else [b"x"]
    elif isinstance(value, str):
        found += [f"{value}x", value[:-1], value.swapcase()]
    elif isinstance(value, int):
        found += [value + 1, value - 1, 0, 1, 7_000]
    else:
        found += [b"x"] if isinstance(column.type, LargeBinary) else ["x"] if isinstance(column.type, Text) else [7]
    if column.nullable and value is not None:
        found.append(None)
    return [other for other in dict.fromkeys(found) if other != value]


def test_another_value_in_a_column_is_noticed_by_who_reads_it_and_by_a_check(filled: Store, sound: Sound) -> None:
    """One value of each column; on a server, which seals in the same way, of one column of each table."""
    columns = COLUMNS if filled.database.path else [list(table.columns)[-1] for table in TABLES]
    assert_each(columns, lambda column: verify_values(sound, column, 1))


@pytest.mark.nightly
@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_every_other_value_is_noticed_by_who_reads_it_and_by_a_check(sound: Sound, column: Column[object]) -> None:
    verify_values(sound, column)


def test_a_row_that_is_missing_is_noticed_by_who_reads_it_and_by_a_check(sound: Sound) -> None:
    """One row of each table."""
    assert_each(TABLES, lambda table: verify_removals(sound, table, 1))


@pytest.mark.nightly
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_every_row_that_is_missing_is_noticed_by_who_reads_it_and_by_a_check(sound: Sound, table: Table) -> None:
    verify_removals(sound, table)


def verify_values(sound: Sound, column: Column[object], most: int = ALL) -> None:
    """Verify a store with another value in a column, for so many other values: in three rows, on a server in one."""
    table, database = column.table, sound.database
    where = " AND ".join(f"{key.name} = ?" for key in table.primary_key)
    rows = sql(database, f"SELECT {column.name}, {', '.join(key.name for key in table.primary_key)} FROM {table}")
    assert rows
    chosen = [rows[len(rows) // 2], rows[0], rows[-1]] if database.path else [rows[len(rows) // 2]]
    tried = 0
    for value, *key in dict.fromkeys(chosen):
        for other in others(column, value, [row[0] for row in rows]):
            with changed(database, f"UPDATE {table} SET {column.name} = ? WHERE {where}", other, *key) as done:
                if done:
                    tried += 1
                    verify(sound, table.name, f"{other!r} for {value!r} in {key}", harmless=str(column) in ONLY_ORDER)
            if tried == most:
                return
    assert tried or column.name in {"id", "line_id", "snapshot_id"} or column.foreign_keys


def verify_removals(sound: Sound, table: Table, most: int = ALL) -> None:
    """Verify a store without a row of a table, for so many rows; a server keeps those that others refer to."""
    keys = ", ".join(key.name for key in table.primary_key)
    where = " AND ".join(f"{key.name} = ?" for key in table.primary_key)
    tried = 0
    for number, key in enumerate(sql(sound.database, f"SELECT {keys} FROM {table}")):
        with changed(sound.database, f"DELETE FROM {table} WHERE {where}", *key) as done:
            if done:
                tried += 1
                verify(sound, table.name if number else None, f"without {key}")
        if tried == most:
            return
    assert tried or sound.database.path is None


class Sound:
    """What the undamaged store says and checks, and the words of all statements that each of it takes.

    What takes no statement about a table gets the same rows where only that table is damaged: it need not be asked.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.words: dict[object, Statement] = {}
        self.said = answers(self._ask)
        for what, part in (*checking._QUICK, *checking._LONG):
            self._record(what, lambda part=part: list(part(database)))
        self._record("lines of a check", lambda: [list(part(database)) for _, part in checking._lines(database)])

    def _ask(self, what: str, read: Callable[[Store], object]) -> object:
        return self._record(what, lambda: answer(Store(self.database), read))  # a store of its own remembers nothing

    def _record(self, what: str, act: Callable[[], object]) -> object:
        with recorded(self.database.connection) as statements:
            done = act()
        self.words[what] = frozenset[str]().union(*statements)
        return done

    def reads(self, what: str, table: str | None) -> bool:
        """Whether something looks at a table, or nobody knows which ones it looks at."""
        return table is None or table in self.words[what] or not self.words[what] & {*metadata.tables}

    def answers(self, table: str | None) -> dict[str, object]:
        """What the store says when a table, or nobody knows what, was damaged."""
        store = Store(self.database)
        return answers(lambda what, read: answer(store, read) if self.reads(what, table) else self.said[what])

    def check(self, table: str | None) -> tuple[str, ...]:
        """What a check finds then."""
        with pytest.MonkeyPatch.context() as patch:
            for parts in ("_QUICK", "_LONG"):
                chosen = tuple(part for part in getattr(checking, parts) if self.reads(part[0], table))
                patch.setattr(checking, parts, chosen)
            if not self.reads("lines of a check", table):
                patch.setattr(checking, "_lines", lambda database: ())
            return checking.check(self.database)


def verify(sound: Sound, table: str | None, damage: str, *, harmless: bool = False) -> None:
    """Every answer is as it was, or an error; and a check finds what is wrong, unless that is no harm."""
    said = sound.answers(table)
    for what, one in said.items():
        expected = sound.said[what]
        if what.startswith(("verdict", "findings")):  # a missing verdict is given once more, with its findings
            assert one in (StoreError, None, expected) or lacks(one, expected), f"{what}: {damage}"
        else:
            assert one in (StoreError, expected), f"{what}: {damage}"
    assert sound.check(table) != () or (harmless and said == sound.said), damage


def lacks(said: object, expected: object) -> bool:
    """Whether all that is said of verdicts or findings is so, and some is missing."""
    if isinstance(said, dict) and isinstance(expected, dict):
        return said.items() <= expected.items()
    return isinstance(said, tuple) and isinstance(expected, tuple) and set(said[0]) <= set(expected[0])


def judge(store: Store) -> None:
    """Store a verdict that has all that one can have."""
    old, new = store.resolve("liblarge@1.1"), store.resolve("liblarge@1.2")
    first, *more = (
        Finding(f"kind_{number}", record(f"geo::Shape{number}"), "x", "changed", impact, "layout", f"S{number}")
        for number, impact in enumerate((Impact.BREAKING, Impact.RISK, Impact.COMPATIBLE, Impact.ADVICE))
    )
    caused = msgspec.structs.replace(first, consequences=(more[0],))
    skipped = NotChecked("source", "both", "not-requested", "headers are not read")
    comparison = Comparison(
        *(old.side, new.side, Verdict.BREAKING, (caused, more[1]), (skipped,), (more[0],)),
        engine="e",
        advice=(more[2],),
    )
    store.save_verdicts([StoredVerdict(old, new, comparison, Churn(1, 2, 3), datetime(2026, 5, 1, tzinfo=UTC))])


@pytest.fixture(scope="module")
def sound(filled: Store) -> Sound:
    """What the undamaged store says; it has an answer to everything but what is in the other library."""
    sound = Sound(filled.database)
    assert {what for what, one in sound.said.items() if one is StoreError} == {
        *("log of geo_norm in liblarge", "log of geo::Shape0 in libgeo")
    }
    return sound


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of everything that a store can hold, in which the database lets anybody do anything."""
    if request.param == "sqlite":
        address = str(tmp_path_factory.mktemp("damage") / "store.db")
    else:
        address = request.getfixturevalue("empty_postgres")()
    # statements that change values keep tables and indexes as they are, and PostgreSQL its references
    unchanged = 1 if request.param == "sqlite" else 2
    with Store.open(address, write=True) as store, pytest.MonkeyPatch.context() as patch:
        fill(store)
        judge(store)
        assert store.check() == ()
        assert {line.key.library for line in every(store.database)} == {"libgeo", "liblarge"}
        if store.database.path:
            sql(store.database, "PRAGMA foreign_keys = OFF")
            sql(store.database, "PRAGMA ignore_check_constraints = ON")
        patch.setattr(checking, "_QUICK", checking._QUICK[unchanged:])
        yield store
