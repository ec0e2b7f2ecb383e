"""An upgrade that is killed: the store is as before, the next upgrade goes on, and nothing is left lying about."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from abistore.errors import SchemaMismatch
from abistore.store.opening import upgrade
from abistore.store.store import Store

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.db"))[:-1]
"""Databases of all older schemas."""

STEP = 37
"""Of so many statements, an upgrade is killed at one."""

KILLED = """
import os, signal, sqlite3, sys
from abistore.cli.main import run
import alembic.command, sqlalchemy.dialects.sqlite  # so that each child need not

left, connect = 0, sqlite3.connect

def counting(*words, **options):
    driver = connect(*words, **options)
    driver.set_trace_callback(one_less)
    return driver

def one_less(statement):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

sqlite3.connect = sqlite3.dbapi2.connect = counting
for line in sys.stdin:
    number, path = line.rstrip().split(" ", 1)
    child = os.fork()
    if not child:
        left = int(number)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(run(["db", "upgrade", "--db", path]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs ``abistore db upgrade`` in processes that are killed at the statement of a given number."""


@pytest.fixture(scope="module")
def killing() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def killed(killing: subprocess.Popen[str], path: Path, statement: int) -> bool:
    """Whether an upgrade was killed at a statement; else it came to its end before."""
    assert killing.stdin and killing.stdout
    killing.stdin.write(f"{statement} {path}\n")
    killing.stdin.flush()
    status = int(killing.stdout.readline())
    assert status in {0, -signal.SIGKILL}
    return status != 0


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as driver:
        return list(driver.iterdump())


def assert_as_before_or_done(path: Path, before: list[str]) -> None:
    """Readers are told to upgrade, and find what was there, unless the upgrade had come to its end."""
    try:
        Store.open(path, write=False).close()
    except SchemaMismatch as error:
        assert error.hint == "run `abistore db upgrade`"
        assert content(path) == before


def assert_goes_on(path: Path) -> None:
    """The next upgrade ends well, and what the killed one had begun to copy is gone."""
    upgrade(path)
    with Store.open(path, write=False) as store:
        assert store.check() == ()
    left = {each.name for each in path.parent.iterdir()} - {"store.db", "store.db-wal", "store.db-shm"}
    assert left
    for name in left:
        assert re.fullmatch(r"store\.db\.\d{4}\.backup\d*", name)
        with closing(sqlite3.connect(path.with_name(name))) as backup:
            assert backup.execute("SELECT version_num FROM abistore_version").fetchone() == (name.split(".")[2],)


@pytest.mark.parametrize("kept", SCHEMAS, ids=lambda path: path.stem)
def test_a_killed_upgrade_leaves_the_store_as_it_was_or_done_and_the_next_one_goes_on(
    kept: Path, tmp_path: Path, killing: subprocess.Popen[str]
) -> None:
    before = content(kept)
    kills = 0
    for number in count(1 + SCHEMAS.index(kept), STEP):
        path = tmp_path / str(number) / "store.db"
        path.parent.mkdir()
        shutil.copy(kept, path)
        if not killed(killing, path, number):
            break
        kills += 1
        assert_as_before_or_done(path, before)
        assert_goes_on(path)
    assert kills
