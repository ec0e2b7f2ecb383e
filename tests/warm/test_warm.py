"""A copied command answers as a started one does, byte for byte."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.processes import family
from tests.build import build_library
from tests.cli.conftest import NEW, OLD
from tests.warm.starting import REAL, abistore

pytestmark = pytest.mark.full

SAMPLE = {
    "nothing": "",
    "version": "--version",
    "help": "compare --help",
    "dump": "dump old.so",
    "dump to a file": "dump old.so -o out.json",
    "break": "compare old.so new.so",
    "json": "compare old.so new.so --json",
    "html": "compare old.so new.so --format html",
    "sarif": "compare old.so new.so --format sarif",
    "colours": "compare old.so new.so --color always",
    "debug": "compare old.so missing.so -vv",
    "unknown": "compar old.so",
    "missing": "dump missing.so",
    "ill-formed name": "dump missing\udcff.so --json",
    "release": "ingest new.so --version 2 --released 2024-05-06 --json",
    "list": "list libcase",
    "history": "history libcase",
    "check": "db check",
    "explain": "explain func_removed",
    "completion": "",
    "full disk": "changes > /dev/full",
}
ENVIRONMENTS = {"help": {"COLUMNS": "50"}, "list": {"TZ": "Pacific/Auckland"}}
ENVIRONMENTS["completion"] = {"_ABISTORE_COMPLETE": "bash_complete", "COMP_WORDS": "abistore comp", "COMP_CWORD": "1"}
CHANGING = re.compile(rb"0x[0-9a-f]+|\d{4}-\d\d-\d\dT[\d:.+Z]+|[0-9a-f]{12,64}")
"""Addresses, moments, and digests of what holds these."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with two libraries, and a store of the first."""
    made = tmp_path / "place"
    made.mkdir()
    for name, source in (("old", OLD), ("new", NEW)):
        shutil.copy(build_library(source), made / f"{name}.so")
    subprocess.run([*REAL, "ingest", "old.so", "--version", "1", "--db", "abi.db"], cwd=made, check=True)
    return made


def answer(start: Sequence[str], place: Path, words: str, environment: dict[str, str]) -> tuple[object, ...]:
    """How a command ends in a copy of the folder, what it prints, and what it leaves there."""
    copy = place.with_name("copy")
    shutil.copytree(place, copy)
    command, _, target = words.partition(" > ")
    with Path(target or os.devnull).open("wb") as file:
        done = subprocess.run(
            [*start, *command.split()],
            cwd=copy,
            env={**os.environ, "ABISTORE_DB": "abi.db", **environment},
            stdin=subprocess.DEVNULL,
            stdout=file if target else subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    left = {path.name: b"" if path.suffix == ".db" else path.read_bytes() for path in copy.iterdir()}
    shutil.rmtree(copy)
    return done.returncode, CHANGING.sub(b"#", done.stdout or b""), CHANGING.sub(b"#", done.stderr), left


@pytest.mark.parametrize("name", SAMPLE)
def test_a_copied_command_answers_as_a_started_one(name: str, place: Path) -> None:
    asked = place, SAMPLE[name], ENVIRONMENTS.get(name, {})
    assert answer(abistore(), *asked) == answer(REAL, *asked)


def test_what_tells_python_how_to_start_starts_it() -> None:
    assert abistore({**os.environ, "PYTHONOPTIMIZE": "2"}) == REAL
    assert abistore({**os.environ, "ABISTORE_DB": "x"}) == abistore()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_a_copied_command_as_a_started_one(number: signal.Signals, place: Path) -> None:
    codes = []
    for start in (abistore(), REAL):
        holder = sqlite3.connect(place / "abi.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        words = [*start, "ingest", "new.so", "--version", "2", "--db", "abi.db", "--json"]
        waiting = subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until_open(place / "abi.db")
        waiting.send_signal(number)
        codes.append((waiting.communicate(timeout=60), waiting.returncode))
        holder.close()
        until_closed(place / "abi.db")
    assert codes[0] == codes[1]


def holders(database: Path) -> set[int]:
    """The processes that this one started, and theirs, that have a database open."""
    found = set()
    for process in set(family(os.getpid())) - {os.getpid()}:
        with suppress(FileNotFoundError):  # it has ended meanwhile
            opened = {os.path.realpath(file) for file in Path(f"/proc/{process}/fd").iterdir()}
            if str(database.resolve()) in opened:
                found.add(process)
    return found


def until_open(database: Path) -> None:
    for _ in range(600):
        if holders(database):
            time.sleep(0.5)  # by now it waits for the lock
            return
        time.sleep(0.1)
    raise AssertionError("nobody opened the database")


def until_closed(database: Path) -> None:
    """A copy ends with whoever called it, also where that was killed."""
    for _ in range(600):
        if not holders(database):
            return
        time.sleep(0.1)
    raise AssertionError(f"{holders(database)} go on")
