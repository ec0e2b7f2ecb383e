"""Pipelines that move one channel at once: processes that are let go at the same moment, on both databases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

pytestmark = pytest.mark.full

LET_GO = """
import json, os, sys
import psycopg, sqlalchemy
import abistore.interface
from abistore.cli.main import run

def waiting(words, told, gate):
    if child := os.fork():
        return child
    for number, name in (1, "out"), (2, "err"):
        os.dup2(os.open(f"{told}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.close(gate[1])
    os.read(gate[0], 1)
    code = run(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

for line in sys.stdin:
    asked = json.loads(line)
    os.environ["ABISTORE_DB"] = asked["database"]
    gate = os.pipe()
    children = [waiting(*call, gate) for call in asked["calls"]]
    for end in gate:
        os.close(end)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps(codes), flush=True)
"""
"""Processes of commands, each split off one that has everything loaded; they wait until all of them are there."""
Race: TypeAlias = Callable[..., list[Done]]
AT_ONCE = 4
ROUNDS = 4


@pytest.fixture(scope="module")
def loaded() -> Iterator[subprocess.Popen[str]]:
    """The process that others are split off."""
    command = [sys.executable, "-c", LET_GO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.communicate(timeout=120)


@pytest.fixture
def race(loaded: subprocess.Popen[str], tmp_path: Path) -> Race:
    """Tells what each command answers where all of them begin at the same moment."""

    def run(*calls: Sequence[str | Path]) -> list[Done]:
        assert loaded.stdin is not None
        assert loaded.stdout is not None
        told = [tmp_path / f"told-{number}" for number in range(len(calls))]
        words = [([str(word) for word in call], str(path)) for call, path in zip(calls, told, strict=True)]
        loaded.stdin.write(json.dumps({"database": os.environ["ABISTORE_DB"], "calls": words}) + "\n")
        loaded.stdin.flush()
        codes = json.loads(loaded.stdout.readline())
        texts = [[path.with_suffix(end).read_text() for end in (".out", ".err")] for path in told]
        return [Done(code, *printed) for code, printed in zip(codes, texts, strict=True)]

    return run


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, abistore: Call, database: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line with a database that several pipelines share, in which 1.0 to 1.4 of a library are."""
    where = str(database) if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    monkeypatch.setenv("ABISTORE_DB", where)
    for number in range(AT_ONCE + 1):
        done = abistore("ingest", library(number), "--version", f"1.{number}")
        assert done.code == 0, done.err
    assert abistore("db", "baseline", "set", "libgeo@1.0").code == 0
    return abistore


def library(number: int, soname: str = "libgeo.so.1") -> Path:
    """A library that has a function more with every number."""
    return build_library("".join(f"int f{each}(void) {{ return 0; }}\n" for each in range(number + 1)), soname=soname)


def stood(call: Call, channel: str = "release") -> list[str]:
    """Where a channel has stood, first to last."""
    moves = call("db", "baseline", "history", "libgeo", "--channel", channel, "--json").json["baselines"]
    return [move["version"] for move in moves]


def test_of_pipelines_that_move_a_channel_at_once_one_wins_and_all_others_are_told(shared: Call, race: Race) -> None:
    for _ in range(ROUNDS):
        before = stood(shared)
        others = [f"1.{number}" for number in range(AT_ONCE + 1) if f"1.{number}" != before[-1]]
        told = race(*(("db", "baseline", "set", f"libgeo@{each}", "--expect", before[-1]) for each in others))
        assert sorted(done.code for done in told) == [0] + [69] * (AT_ONCE - 1), told
        (won,) = [version for version, done in zip(others, told, strict=True) if done.code == 0]
        assert stood(shared) == [*before, won]
        for done in told:
            if done.code:
                assert f"baseline release is at {won}, not at {before[-1]}" in done.err
                assert "check where it is now, and decide again" in done.err


def test_of_two_promotions_at_once_one_wins_and_the_channel_has_one_move_more(shared: Call, race: Race) -> None:
    for channel, version in (("staging", "1.1"), ("nightly", "1.2")):
        assert shared("db", "baseline", "set", f"libgeo@{version}", "--channel", channel).code == 0
    told = race(
        *(
            ("db", "baseline", "promote", "libgeo", channel, "release", "--reason", channel, "--expect", "1.0")
            for channel in ("staging", "nightly")
        )
    )
    assert sorted(done.code for done in told) == [0, 69], told
    assert stood(shared) == ["1.0", "1.1" if told[0].code == 0 else "1.2"]


def test_a_channel_that_nobody_has_set_is_set_by_one_pipeline(shared: Call, race: Race) -> None:
    calls = [
        ("db", "baseline", "set", f"libgeo@1.{number}", "--channel", "lts", "--expect", "none")
        for number in range(AT_ONCE)
    ]
    told = race(*calls)
    assert sorted(done.code for done in told) == [0] + [69] * (AT_ONCE - 1), told
    assert len(stood(shared, "lts")) == 1


def test_pipelines_that_release_at_once_are_judged_one_after_the_other(shared: Call, race: Race) -> None:
    numbers = [AT_ONCE + 1 + each for each in range(AT_ONCE)]
    told = race(
        *(
            ("ingest", library(number), "--version", f"1.{number}", "--against", "baseline", "--set-baseline")
            for number in numbers
        )
    )
    assert {done.code for done in told} <= {0, 4}, told
    passed = [f"1.{number}" for number, done in zip(numbers, told, strict=True) if done.code == 0]
    moves = stood(shared)
    # who came later was judged beside what the one before had set: an older release lacks a function
    assert (moves[0], sorted(moves[1:])) == ("1.0", sorted(passed))
    assert all(int(old.partition(".")[2]) < int(new.partition(".")[2]) for old, new in pairwise(moves))
    assert moves[-1] == f"1.{numbers[-1]}"


def test_of_two_builds_with_one_label_one_is_stored_and_the_other_is_told(shared: Call, race: Race) -> None:
    words = ("--version", "2.0", "--against", "baseline", "--set-baseline")
    told = race(*(("ingest", library(number, "libgeo.so.1"), *words) for number in (7, 8)))
    assert sorted(done.code for done in told) == [0, 68], told
    assert stood(shared) == ["1.0", "2.0"]
    again = race(*(("ingest", library(9), "--version", "2.1", *words[2:]) for _ in range(AT_ONCE)))
    assert {done.code for done in again} == {0}, again
    assert stood(shared) == ["1.0", "2.0", "2.1"]
