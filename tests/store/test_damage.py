"""Whatever is changed behind a store's back: what is read is what was stored, or an error that names what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial

import msgspec
import pytest
from sqlalchemy import Column, LargeBinary, Table, Text

from abistore.errors import StoreError
from abistore.model.findings import Churn, Comparison, Finding, Impact, NotChecked, RulingKey, Verdict
from abistore.model.history import LineKey, Release, StoredVerdict
from abistore.store import checking
from abistore.store.database.tables import metadata
from abistore.store.releases.lines import every
from abistore.store.store import Store
from tests.store.builders import X86, record
from tests.store.schemas.build import fill
from tests.store.sql import sql

COLUMNS = [(table, column) for table in metadata.sorted_tables for column in table.columns]

JUDGED = LineKey("liblarge", str(X86))
PAIRS = (("1.0", "1.1"), ("1.1", "1.2"))

RELEASES = {"liblarge": ("1.0", "1.1", "1.2", "1.3", "candidate:2.0"), "libgeo": ("R_1",)}
POINTERS = {"liblarge": ("latest", "prev", "baseline"), "libgeo": ("latest",)}
"""What leads to one of the releases."""

NAMES = {"liblarge": ("geo::Shape0", "_ZN3geo0normEv", "geo::norm1", "geo_norm"), "libgeo": ("geo::Shape0", "geo_norm")}
"""What is stored in a library, and what is stored in the other one."""

ONLY_ORDER = {"audit.id", "root.id"}
"""Ids that nothing refers to: another one in the same order says the same."""


class _Undone(Exception):
    """Ends a transaction that is not to be kept."""


@contextmanager
def changed(store: Store, statement: str, *values: object) -> Iterator[bool]:
    """The database after a statement, for as long as this lasts: false where the database itself refuses it."""
    with suppress(_Undone), store.database.transaction():
        try:
            sql(store.database, statement, *values)
            done = True
        except StoreError:
            done = False
        yield done
        raise _Undone


def answer(read: Callable[[], object]) -> object:
    """What a reader says, or that it says nothing."""
    try:
        return read()
    except StoreError as error:
        assert error.message
        return StoreError


def answers(opened: Store) -> dict[str, object]:
    """What a store says about all that it holds."""
    store = Store(opened.database)
    said: dict[str, object] = {
        "lines": answer(store.lines),
        "baselines": answer(store.baselines),
        "audit": answer(store.audit),
        "reviews": answer(store.reviews),
        "approvals": answer(store.approvals),
        "consumers": answer(store.consumers),
        "what consumers import": answer(store.consumer_imports),
        "what consumers were built with": answer(store.consumer_types),
    }
    said["findings"] = answer(lambda: store.findings("", 100))
    said["verdicts"] = answer(lambda: store.verdict_summaries(JUDGED, "e"))
    for library in RELEASES:
        said[f"releases of {library}"] = answer(partial(store.releases, library))
        said[f"candidates of {library}"] = answer(partial(store.candidates, library))
        said[f"baselines of {library}"] = answer(partial(store.baseline_history, library))
        said[f"scheme of {library}"] = answer(partial(store.scheme, library))
        for version in (*RELEASES[library], *POINTERS[library]):
            said[f"{library}@{version}"] = answer(partial(store.resolve, f"{library}@{version}"))
        for version in RELEASES[library]:
            release = said[f"{library}@{version}"]
            if isinstance(release, Release):
                said[f"content of {library}@{version}"] = answer(partial(store.load, release))
        for name in NAMES[library]:
            said[f"log of {name} in {library}"] = answer(partial(log, store, library, name, said["lines"]))
    for old, new in ([said[f"liblarge@{version}"] for version in pair] for pair in PAIRS):
        if isinstance(old, Release) and isinstance(new, Release):
            judged = answer(partial(store.find_verdict, old, new, RulingKey(), "e"))
            said[f"verdict of {old.version} {new.version}"] = judged
    return said


def log(store: Store, library: str, name: str, lines: object) -> object:
    """What happened to a name, if all can be told which libraries there are."""
    if not isinstance(lines, tuple) or library not in {line.library for line in lines}:
        raise StoreError(f"{library}: not stored")
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


@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=str)
def test_a_value_that_was_changed_is_noticed_by_who_reads_it_and_by_a_check(
    filled: Store, expected: dict[str, object], table: Table, column: Column[object]
) -> None:
    rows = sql(filled.database, f"SELECT {column.name}, {', '.join(c.name for c in table.primary_key)} FROM {table}")
    assert rows
    where = " AND ".join(f"{key.name} = ?" for key in table.primary_key)
    tried = 0
    chosen = dict.fromkeys([rows[0], rows[len(rows) // 2], rows[-1]])
    if filled.database.path is None:  # a server, for which one row shows that the same seals hold
        chosen = dict.fromkeys([rows[len(rows) // 2]])
    for value, *key in chosen:
        for other in others(column, value, [row[0] for row in rows]):
            with changed(filled, f"UPDATE {table} SET {column.name} = ? WHERE {where}", other, *key) as done:
                if done:
                    tried += 1
                    verify(filled, expected, f"{other!r} for {value!r} in {key}", harmless=str(column) in ONLY_ORDER)
    assert tried or column.name in {"id", "line_id", "snapshot_id"} or column.foreign_keys


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_a_row_that_is_missing_is_noticed_by_who_reads_it_and_by_a_check(
    filled: Store, expected: dict[str, object], table: Table
) -> None:
    keys = ", ".join(key.name for key in table.primary_key)
    where = " AND ".join(f"{key.name} = ?" for key in table.primary_key)
    for key in sql(filled.database, f"SELECT {keys} FROM {table}"):
        with changed(filled, f"DELETE FROM {table} WHERE {where}", *key) as done:
            if done:
                verify(filled, expected, f"without {key}")


def verify(store: Store, expected: dict[str, object], damage: str, *, harmless: bool = False) -> None:
    """Every answer is as it was, or an error; and a check finds what is wrong, unless that is no harm."""
    said = answers(store)
    for what, one in said.items():
        if what.startswith(("verdict", "findings")):  # a missing verdict is given once more, with its findings
            assert one in (StoreError, None, expected[what]) or lacks(one, expected[what]), f"{what}: {damage}"
        else:
            assert one in (StoreError, expected[what]), f"{what}: {damage}"
    assert store.check() != () or (harmless and said == expected), damage


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
def expected(filled: Store) -> dict[str, object]:
    """What the undamaged store says; it has an answer to everything but what is in the other library."""
    said = answers(filled)
    assert {what for what, one in said.items() if one is StoreError} == {
        *("log of geo_norm in liblarge", "log of geo::Shape0 in libgeo")
    }
    return said


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
