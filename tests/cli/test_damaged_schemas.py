"""Every command on a store whose file or schema is damaged: an answer, or an error that names it. Never a bug."""

from __future__ import annotations

import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import cache
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

import click
import psycopg
import pytest
from sqlalchemy import Column, Index, Table

from abistore.cli.main import run
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot_files import to_json
from abistore.service import site
from abistore.store.tables import metadata
from tests.build import build_library
from tests.cli.commands import calls, commands
from tests.cli.conftest import ADDED, NEW, OLD, Call
from tests.statements import Statement, recorded
from tests.store.postgres import COPY, dropped
from tests.subjects import assert_each

BUG = 70
FRESHER = NEW.replace("fresh", "fresher")
TABLES = metadata.sorted_tables
COLUMNS = [column for table in TABLES for column in table.columns]
INDEXES = sorted((index for table in TABLES for index in table.indexes), key=lambda index: str(index.name))
CHECK = ["db", "check"]
"""What each test of a damaged table asks itself."""
DRIFT = ["env", "drift"]
"""What answers by its exit code that files differ."""
FEW, MOST = 12, 3
"""Into how many parts the commands are divided of which each damage to a whole file or schema is met by one."""
LAST = ("db forget", "db vacuum", "db upgrade")
"""What changes a store so that other commands have less to tell."""


def fill(where: str) -> None:
    """Three releases with verdicts, a baseline, an environment and a rule, by commands."""
    for words in (
        ("ingest", str(build_library(OLD)), "--version", "1.0", "--set-baseline"),
        ("ingest", str(build_library(ADDED)), "--version", "1.1", "--against", "baseline"),
        ("ingest", str(build_library(NEW)), "--version", "2.0"),
        ("history", "libcase"),
        ("env", "record", "production", "libcase@1.0"),
        ("policy", "bind", "libcase", "--reason", "why"),
    ):
        assert run([*words, "-q", "--db", where]) == 0, words


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undamaged store, to be copied."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    fill(str(path))
    with closing(sqlite3.connect(path)) as driver:
        driver.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture(scope="module")
def server(postgres_server: str) -> Iterator[str]:
    """A server with an undamaged store, a template for others.

    It is dropped behind the tests: a worker that has left this module may be given more of it.
    """
    with psycopg.connect(postgres_server, autocommit=True) as driver:
        driver.execute("CREATE DATABASE sound")
    with dropped(postgres_server.replace("/postgres?", "/sound?")) as store:
        fill(store)
        yield postgres_server


@pytest.fixture(autouse=True, scope="module")
def few_kinds() -> Iterator[None]:
    """Every site has a page of each of hundreds of kinds, which holds nothing of a store: here it has three."""
    some = site.changes()[:3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "changes", lambda: some)
        yield


Place: TypeAlias = tuple[str, ...]
"""What is damaged: a table, or a table and one of its columns."""


class Readers:
    """Which commands, by their number, run a statement with certain words (a table, a column) on the sound store.

    All others get the same rows where only what has these names is damaged, and so do the same as on the sound store.
    """

    def __init__(self, ran: dict[int, list[Statement]]) -> None:
        self.ran = ran

    def every(self, table: str, *columns: str) -> set[int]:
        """All of them."""
        return {call for calls in self._by_what_they_meet(table, *columns).values() for call in calls}

    def one_each(self, turn: int, table: str, *columns: str) -> set[int]:
        """One of those that meet the damage by the same statements; the next damage has another one of them."""
        return {calls[turn % len(calls)] for calls in self._by_what_they_meet(table, *columns).values()}

    def sample(self, places: Iterable[Place]) -> dict[Place, set[int]]:
        """Some of many damages, each with commands that meet it: one runs each statement about a table."""
        met: set[Statement] = set()
        chosen = defaultdict[Place, set[int]](set)
        for turn, place in enumerate(places):
            found = self._by_what_they_meet(*place)
            for statements in sorted(found, key=len, reverse=True):
                if not statements <= met:
                    met |= statements
                    chosen[place].add(found[statements][turn % len(found[statements])])
        return chosen

    def _by_what_they_meet(self, table: str, *columns: str) -> dict[frozenset[Statement], list[int]]:
        # by its name, with its columns, with all tables
        seen = {table, *columns}, {table, "PRAGMA"}, {"pragma_table_info"}, {"VACUUM"}
        found = defaultdict[frozenset[Statement], list[int]](list)
        for call, statements in self.ran.items():
            met = frozenset(each for each in statements if any(words <= each for words in seen))
            if met:
                found[met].append(call)
        return found


@pytest.fixture(scope="module")
def readers(sound: Path, few_kinds: None, tmp_path_factory: pytest.TempPathFactory) -> Readers:
    folder = tmp_path_factory.mktemp("readers")
    ran: dict[int, list[Statement]] = {}
    for number, words in enumerate(every_call(folder)):
        if words[0] != "mcp" and words[:2] != CHECK:
            with recorded() as statements:
                run([*words, "--db", _on_sqlite(sound, folder / "copy.db", ())])
            ran[number] = statements
    return Readers(ran)


class Copies(NamedTuple):
    """Copies of the sound store: ``make`` runs statements on a new one and returns its address.

    ``step`` is how far apart the damages of a sample are: a copy on a server takes long.
    """

    make: Callable[..., str]
    step: int


@pytest.fixture(params=["sqlite", "postgresql"])
def copies(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Copies]:
    if request.param == "sqlite":
        sound = request.getfixturevalue("sound")
        yield Copies(lambda *statements: _on_sqlite(sound, tmp_path / "copy.db", statements), 1)
        return
    server = request.getfixturevalue("server")
    with ExitStack() as made:
        yield Copies(lambda *statements: made.enter_context(dropped(_on_postgresql(server, statements))), 5)


def _on_sqlite(sound: Path, path: Path, statements: tuple[str, ...]) -> str:
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()
    shutil.copy(sound, path)
    with closing(sqlite3.connect(path)) as driver:
        for statement in ("PRAGMA legacy_alter_table = ON", *statements):
            driver.execute(statement.replace(" CASCADE", ""))
        driver.commit()
    return str(path)


_numbers = count(1)


def _on_postgresql(server: str, statements: tuple[str, ...]) -> str:
    name = f"damaged{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as driver:
        driver.execute(f"CREATE DATABASE {name} TEMPLATE sound {COPY}".encode())
    url = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, autocommit=True) as driver:
        for statement in statements:
            driver.execute(statement.encode())
    return url


@cache
def dumped() -> bytes:
    """A release that is not stored yet, as JSON."""
    return to_json(read_snapshot(build_library(FRESHER), ExtractOptions(version="7")))


def every_call(folder: Path) -> list[list[str]]:
    """A call of each command that opens a store, those first that only read."""
    (folder / "snapshot.json").write_bytes(dumped())
    (folder / "approvals.yaml").write_text("project: libcase\napprovals: []\n")
    new = build_library(FRESHER)
    values = {
        "mcp file": folder / "tokens",
        "mcp tool": "abi_list",
        "mcp arguments": "library=libcase",
        "db tag": "lts",
        "reference": "libcase@1.1",
        "export what": "libcase@1.1",
        "db other": folder / "snapshot.json",
        "library": "libcase",
        "name": "norm",
        "what": "abcdef12",
        "old": "libcase@1.0",
        "new": "libcase@2.0",
        "operand": "libcase@2.0",
        "path": new,
        "paths": new,
        "apps": new,
        "names": "libcase.so",
        "import paths": folder / "snapshot.json",
        "destination": folder / "backup.db",
        "folder": folder,
        **dict.fromkeys(("env", "env old", "env new", "--to", "--env"), "production"),
        "members": "libcase@1.0",
        **dict.fromkeys(("libraries", "pattern"), "libcase"),
        "--since": "2020-01-01",
        "approve file": folder / "approvals.yaml",
        "site -o": folder / "site",
        "-o": folder / "output.json",
        "--version": "3.0",
        "--reason": "why",
    }
    opening = {" ".join(words) for words, command in commands() if opens_a_store(command)}
    found = list(calls(values, "-o", "--version", "--reason", known=lambda name: name in opening))
    return sorted(found, key=lambda words: " ".join(words[:2]) in LAST)


def opens_a_store(command: click.Command) -> bool:
    return any("--db" in parameter.opts for parameter in command.params)


def assert_no_bug(
    abistore: Call,
    address: str,
    folder: Path,
    turn: int | None = None,
    *,
    readers: Collection[int] | None = None,
    parts: int = 1,
) -> list[int]:
    """The exit codes of all commands, or of those that read what is damaged; none is that of a bug.

    Each kind of damage has its ``turn``: it is met by one of so many ``parts`` of the commands, the next one by another
    part. The commands for agents start processes, and meet every fortieth; without a turn they meet none.
    """
    codes = []
    folder.mkdir(exist_ok=True)
    for number, words in list(enumerate(every_call(folder)))[(turn or 0) % parts :: parts]:
        if words[0] == "mcp":
            if turn is None or turn % 40:
                continue
        elif readers is not None and number not in readers:
            continue
        (folder / "backup.db").unlink(missing_ok=True)
        done = abistore(*words, "--db", address)
        codes.append(done.code)
        assert done.code != BUG, (words, done.err)
        told = done.out if words[:2] in (CHECK, DRIFT, ["mcp", "call"]) else ""
        assert done.code < 64 or done.err.startswith("error: ") or told, (words, done.err)
    return codes


def test_every_command_has_something_to_say_of_a_sound_store(abistore: Call, copies: Copies, tmp_path: Path) -> None:
    codes = assert_no_bug(abistore, copies.make(), tmp_path, 0)
    assert len(codes) > 20
    assert sum(code < 64 for code in codes) > 0.7 * len(codes), codes


HEADERS = {
    "nothing": lambda data: b"",
    "a byte": lambda data: data[:1],
    "half a header": lambda data: data[:50],
    "a header": lambda data: data[:100],
    "half a page": lambda data: data[:2048],
    "all but the last page": lambda data: data[:-4096],
    "zeros": lambda data: bytes(4096),
    "a header of zeros": lambda data: bytes(100) + data[100:],
    "words": lambda data: b"these are words\n" * 400,
    "pages without a size": lambda data: data[:16] + b"\0\0" + data[18:],
    "an unknown format": lambda data: data[:18] + b"\x09\x09" + data[20:],
    "no pages": lambda data: data[:28] + bytes(4) + data[32:],
    "another program's": lambda data: data[:68] + b"\0\0\0\x07" + data[72:],
    "utf-16": lambda data: data[:56] + b"\0\0\0\x02" + data[60:],
    "a schema of zeros": lambda data: data[:100] + bytes(3996) + data[4096:],
}


@pytest.mark.parametrize("parts", [FEW, pytest.param(MOST, marks=pytest.mark.nightly)], ids=["few", "most"])
def test_a_file_that_is_damaged_where_it_begins_is_an_error(
    parts: int, abistore: Call, sound: Path, tmp_path: Path
) -> None:
    path = tmp_path / "copy.db"

    def law(damage: str) -> None:
        path.write_bytes(HEADERS[damage](sound.read_bytes()))
        assert_no_bug(abistore, str(path), tmp_path / damage, list(HEADERS).index(damage), parts=parts)

    assert_each(HEADERS, law)


VERSION = "abistore_version"
REVISIONS = {
    "no row": [f"DELETE FROM {VERSION}"],
    "two rows": [f"INSERT INTO {VERSION} VALUES ('0001')"],
    "no table": [f"DROP TABLE {VERSION}"],
    "a view": [f"DROP TABLE {VERSION}", f"CREATE VIEW {VERSION} AS SELECT '0007' AS version_num"],
    "no such column": [f"ALTER TABLE {VERSION} RENAME COLUMN version_num TO version"],
    "a number": [f"DROP TABLE {VERSION}", f"CREATE TABLE {VERSION} AS SELECT 7 AS version_num"],
    "nothing": [f"DROP TABLE {VERSION}", f"CREATE TABLE {VERSION} AS SELECT NULL AS version_num"],
    **{
        f"{text!r}": [f"UPDATE {VERSION} SET version_num = '{text}'"]
        for text in ("", "head", "9999", "0000", "-001", "00 7", "\u0660\u0660\u0660\u0667", "\u00b2\u00b2\u00b2\u00b2")
    },
    **{f"really older: {number}": [f"UPDATE {VERSION} SET version_num = '000{number}'"] for number in range(1, 7)},
}


@pytest.mark.parametrize("parts", [FEW, pytest.param(MOST, marks=pytest.mark.nightly)], ids=["few", "most"])
def test_a_schema_whose_number_is_wrong_is_an_error(parts: int, abistore: Call, copies: Copies, tmp_path: Path) -> None:
    def law(turn: int) -> None:
        address = copies.make(*REVISIONS[list(REVISIONS)[turn]])
        assert_no_bug(abistore, address, tmp_path / str(turn), turn, parts=parts)

    assert_each(range(len(REVISIONS)), law, named=list(REVISIONS).__getitem__)


DAMAGES = {
    "missing": (("DROP TABLE {0} CASCADE",), "it is missing"),
    "view": (("ALTER TABLE {0} RENAME TO moved", "CREATE VIEW {0} AS SELECT * FROM moved"), "it is missing"),
    "of other columns": (("DROP TABLE {0} CASCADE", "CREATE TABLE {0} (x TEXT)"), "its column ("),
}
"""How a table is damaged, and what a check says of it."""


def damaged_table(abistore: Call, copies: Copies, table: str, damage: str) -> str:
    """The address of a store with a damaged table, which a check names."""
    statements, said = DAMAGES[damage]
    address = copies.make(*(each.format(table) for each in statements))
    assert any(each.startswith(f"table {table}: {said}") for each in checked(abistore, address))
    return address


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_table_that_is_missing_or_another_is_an_error_to_who_reads_it(
    damage: str, abistore: Call, copies: Copies, readers: Readers, tmp_path: Path
) -> None:
    chosen = readers.sample((table.name,) for table in TABLES)

    def law(table: Table) -> None:
        address = damaged_table(abistore, copies, table.name, damage)
        assert_no_bug(abistore, address, tmp_path / table.name, readers=chosen[(table.name,)])

    assert_each(TABLES[:: copies.step], law)


@pytest.mark.nightly
@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_command_says_that_a_table_is_missing_or_another(
    damage: str, table: Table, abistore: Call, copies: Copies, readers: Readers, tmp_path: Path
) -> None:
    address = damaged_table(abistore, copies, table.name, damage)
    assert_no_bug(abistore, address, tmp_path, TABLES.index(table), readers=readers.every(table.name))


def without_column(abistore: Call, copies: Copies, table: str, column: str) -> str:
    """The address of a store without a column, which a check names."""
    address = copies.make(f"ALTER TABLE {table} RENAME COLUMN {column} TO gone")
    assert f"table {table}: its column ({column}) is missing" in checked(abistore, address)
    return address


def test_a_column_that_is_missing_is_an_error_to_who_reads_it(
    abistore: Call, copies: Copies, readers: Readers, tmp_path: Path
) -> None:
    chosen = readers.sample((column.table.name, column.name) for column in COLUMNS)

    def law(place: Place) -> None:
        address = without_column(abistore, copies, *place)
        assert_no_bug(abistore, address, tmp_path / ".".join(place), readers=chosen[place])

    assert_each(list(chosen)[:: copies.step], law, named=".".join)


@pytest.mark.nightly
@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_every_command_says_that_a_column_is_missing(
    column: Column[object], abistore: Call, copies: Copies, readers: Readers, tmp_path: Path
) -> None:
    place = column.table.name, column.name
    turn = COLUMNS.index(column)
    address = without_column(abistore, copies, *place)
    assert_no_bug(abistore, address, tmp_path, turn, readers=readers.one_each(turn, *place))


def test_an_index_that_is_missing_is_told_by_a_check(abistore: Call, copies: Copies) -> None:
    def law(index: Index) -> None:
        (told,) = checked(abistore, copies.make(f"DROP INDEX {index.name}"), "--quick")
        assert told.startswith(f"table {index.table}: its ")

    assert_each(INDEXES, law, named=attrgetter("name"))


def checked(abistore: Call, address: str, *options: str) -> list[str]:
    """What a check finds."""
    done = abistore(*CHECK, *options, "--db", address, "--json")
    assert done.code != BUG, done.err
    problems: list[str] = done.json["problems"]
    return problems
