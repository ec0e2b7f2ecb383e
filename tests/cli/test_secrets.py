"""No password comes out: of any command, in any output, in any file, or in the database."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.build import build_library
from tests.cli.commands import calls, commands
from tests.cli.conftest import NEW, OLD, Call, Done

pytestmark = pytest.mark.full

SECRET = "s3cr3tP4ss"
POLICY = "name: strict\nbase: strict_abi\n"
SUPPRESSIONS = f"""
suppressions:
  - symbol: gone
    reason: see https://ci:{SECRET}@jira.example.org/1?token={SECRET}
"""

WRONG = (
    f"postgresql://abistore:{SECRET}@127.0.0.1:1/db",
    f"postgres://abistore:{SECRET}@127.0.0.1:1/db",
    f"postgresql+asyncpg://abistore:{SECRET}@no-such-host.invalid/db",
    f"postgresql://127.0.0.1:1/db?user=abistore&password={SECRET}",
    f"postgresql://127.0.0.1:1/db?sslpassword={SECRET}&sslmode=bad",
    f"postgresql://abistore:{SECRET}@127.0.0.1:1/db?foo=1",
    f"postgresql://abistore:{SECRET}@127.0.0.1:1/db?connect_timeout=soon",
    f"postgresql://abistore:{SECRET}@127.0.0.1:port/db",
    f"postgresql://abistore:x@{SECRET}@127.0.0.1:1/db",
    f"postgresql://abistore:x@{SECRET}:y@127.0.0.1:1/db",
    f"postgresql://abistore:x/{SECRET}@127.0.0.1:1/db",
    f"postgresql://abistore:x?{SECRET}#@127.0.0.1:1/db",
    f"postgresql://abistore:x {SECRET}@127.0.0.1:1/db",
    f"postgresql://abistore::{SECRET}@[::1/db",
    f"pg-sql://abistore:{SECRET}@",
    f"mysql://abistore:{SECRET}@host/db",
    f"postgresql:/abistore:{SECRET}@host/db",
    f"postgresql:abistore:{SECRET}@host/db",
    f"abistore:{SECRET}@host/db",
    f"host=127.0.0.1 port=1 password={SECRET}",
    f"host=127.0.0.1 password = 'x {SECRET}'",
)
"""Addresses of databases that cannot be used, each in another way."""


@pytest.fixture
def values(tmp_path: Path) -> dict[str, str | Path]:
    """What the commands are called with."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "suppressions.yaml").write_text(SUPPRESSIONS)
    old, new = tmp_path / "libcase.so", build_library(NEW)
    subprocess.run(["strip", "-o", old, build_library(OLD)], check=True)
    return {
        "mcp file": tmp_path / "tokens",
        "reference": "libcase@1.0",
        "library": "libcase",
        "name": "norm",
        "what": "func_removed",
        "old": old,
        "new": new,
        "operand": old,
        "paths": old,
        "apps": old,
        "names": "libcase.so",
        "path": old,
        "policy": "strict_abi",
        "file": tmp_path / "policy.yaml",
        "files": tmp_path / "suppressions.yaml",
        "folder": old.parent,
        "destination": tmp_path / "copy.db",
        "site -o": tmp_path / "site",
        "-o": tmp_path / "output",
        "--version": "1.0",
        "--reason": f"as https://user:{SECRET}@ci.example.org/?token={SECRET} says",
        "--url": f"https://{SECRET}@ci.example.org/job/1?access_token={SECRET}",
        "--suppress": tmp_path / "suppressions.yaml",
    }


OPTIONS = ("--debuginfod", "-o", "--version", "--reason", "--url")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Servers of debug files whose URLs hold passwords in every place, none of which answers."""
    urls = (
        f"http://user:{SECRET}@127.0.0.1:1",
        f"http://{SECRET}@127.0.0.1:1/",
        f"http://user:a/{SECRET}@127.0.0.1:1/",
        f"http://user:{SECRET}@127.0.0.1:port/?token={SECRET}",
        f"http://user:{SECRET}@[::1/",
        f"http://127.0.0.1:1/?token={SECRET}",
    )
    monkeypatch.setenv("DEBUGINFOD_URLS", " ".join(urls))
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("ABISTORE_DEBUG", "1")
    monkeypatch.chdir(tmp_path)
    yield


def assert_hidden(done: Done, words: list[str]) -> None:
    assert SECRET not in done.out, words
    assert SECRET not in done.err, words


def assert_no_file_tells(folder: Path) -> None:
    """Nothing that was written has the secret; the suppressions were there before."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "suppressions.yaml":
            assert SECRET.encode() not in path.read_bytes(), path
        assert SECRET not in path.name


@pytest.mark.parametrize("url", WRONG)
def test_no_command_tells_the_password_of_a_database_that_cannot_be_used(
    url: str, abistore: Call, values: dict[str, str | Path], tmp_path: Path
) -> None:
    turn = WRONG.index(url)
    for number, words in enumerate(calls(values, *OPTIONS)):
        if words[0] == "mcp" and turn % 4:
            continue  # each of these starts processes
        mode = ["--json"] if words[0] != "mcp" and (number + turn) % 2 else []  # the next address has the other one
        done = abistore(*words, *mode, "--db", url) if "--db" in usage(words) else abistore(*words, *mode)
        assert_hidden(done, words)
        assert done.code != 70, done.err + done.out
    assert_no_file_tells(tmp_path)


OF_COMMANDS = {
    names: [option for parameter in command.params for option in parameter.opts] for names, command in commands()
}


def usage(words: list[str]) -> list[str]:
    """The options of the command that ``words`` call."""
    return next(options for names, options in OF_COMMANDS.items() if tuple(words[: len(names)]) == names)


def sequence(values: dict[str, str | Path]) -> list[list[str]]:
    """All commands in an order in which they have something to tell: what makes comes first, what takes away last."""
    made = ("db init", "ingest", "import", "baseline set")
    found = list(calls(values, *OPTIONS))
    first = [words for name in made for words in found if words[: len(name.split())] == name.split()]
    rest = [words for words in found if words not in first]
    return [*first, *rest, *first[:2], *rest]


MODES: list[list[str]] = [[], ["--json"], ["-v"]]


def assert_told_by_none(abistore: Call, values: dict[str, str | Path], *database: str, modes: int = len(MODES)) -> None:
    """Calls all commands twice, each time in as many of the ``modes``, the next of which begins with the next one."""
    codes = []
    for number, words in enumerate(sequence(values)):
        for mode in (MODES * 2)[number % 3 :][:modes]:
            given = [*words, *mode, *(database if "--db" in usage(words) else ())]
            done = abistore(*given)
            assert_hidden(done, given)
            codes.append(done.code)
            assert done.code != 70, done.err + done.out
    assert codes.count(0) > len(codes) / 2


def test_no_command_tells_a_password_and_neither_does_an_sqlite_database(
    abistore: Call, values: dict[str, str | Path], tmp_path: Path, database: Path
) -> None:
    assert_told_by_none(abistore, values)
    assert_no_file_tells(tmp_path)
    with closing(sqlite3.connect(database)) as driver:
        assert "debuginfod-failed" in "\n".join(driver.iterdump())
        assert "ci.example.org" in "\n".join(driver.iterdump())


def test_no_command_tells_the_password_of_a_server_and_neither_does_its_database(
    abistore: Call, values: dict[str, str | Path], tmp_path: Path, postgres_url: str
) -> None:
    with_password = postgres_url.replace("abistore@", f"abistore:{SECRET}@").replace("postgresql://", "postgres://")
    assert_told_by_none(abistore, values, "--db", with_password)
    assert_told_by_none(abistore, values, "--db", f"{postgres_url}&password={SECRET}&sslpassword={SECRET}", modes=1)
    assert_no_file_tells(tmp_path)
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert len(tables) > 5
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}".encode()).fetchall():
                assert SECRET not in str(row), table


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgres+psycopg", "postgresql+psycopg"])
def test_a_server_is_reached_by_each_of_its_schemes(scheme: str, abistore: Call, postgres_url: str) -> None:
    done = abistore("db", "init", "--json", "--db", postgres_url.replace("postgresql://", f"{scheme}://"))
    assert (done.code, done.json["store"]["created"]) == (0, True)


def test_a_password_that_an_older_version_stored_is_not_shown(
    abistore: Call, values: dict[str, str | Path], database: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        for module in ("abistore.urls", "abistore.extract.debuginfod", "abistore.store.database"):
            older.setattr(f"{module}.masked", lambda text, secrets=(): text)
        told = ["--debuginfod", "--url", values["--url"], "--version"]
        for version, library in (("1.0", values["old"]), ("2.0", new)):
            assert abistore("ingest", library, *told, version).code == 0
            assert abistore("db", "baseline", "set", f"libcase@{version}", "--reason", values["--reason"]).code == 0
        assert abistore("verdict", "libcase@2.0").code == 4
    with closing(sqlite3.connect(database)) as driver:
        assert SECRET in "\n".join(driver.iterdump())
    for words in (
        ["show", "libcase@1.0"],
        ["export", "libcase@1.0"],
        ["list", "libcase", "--json"],
        ["verdict", "libcase@2.0"],
        ["verdict", "libcase@2.0", "--json"],
        ["db", "baseline", "history", "libcase"],
    ):
        done = abistore(*words)
        assert done.code in {0, 4}
        assert_hidden(done, words)


def test_the_address_of_the_documentation_may_hold_no_password(abistore: Call, old: Path, new: Path) -> None:
    done = abistore("compare", old, new, "--format", "sarif", "--docs-base", f"https://u:{SECRET}@docs.example.org")
    assert done.code == 64
    assert "has a password or token: https://***@docs.example.org" in done.err
    assert_hidden(done, [])
