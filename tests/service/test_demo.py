"""The demonstration shows a break in one screen, compiled or from the snapshots that are shipped."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import abistore
from abistore.errors import InputError
from abistore.service import demo as demonstration
from tests.cli.conftest import Call
from tests.cli.conftest import abistore as called
from tests.cli.conftest import clean_environment as clean_environment
from tests.cli.conftest import database as database

call = called
COLUMNS, LINES = 80, 40


def findings(shown: abistore.Demonstration) -> list[tuple[str, str, str | None, str | None]]:
    return [(each.kind, each.display, each.old_value, each.new_value) for each in shown.report.changes]


def test_the_demo_fits_a_screen_and_shows_a_break(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    done = call("init", "--demo")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert "libshelf 1.0.0 -> libshelf 1.1.0: BREAKING" in lines
    assert len(lines) < LINES - 2 and max(map(len, lines)) <= COLUMNS
    assert {"README", "abi.db", "1.0.0", "1.1.0"} == {each.name for each in (tmp_path / "abistore-demo").iterdir()}


def test_the_next_commands_of_the_demo_run(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = abistore.demo(tmp_path / "shown")
    enter, *others = shown.commands
    assert enter.command == f"cd {tmp_path / 'shown'} && export ABISTORE_DB=abi.db"
    monkeypatch.chdir(tmp_path / "shown")
    monkeypatch.setenv("ABISTORE_DB", "abi.db")
    assert others
    for each in others:
        program, *words = shlex.split(each.command)
        assert program == "abistore"
        assert call(*words).code in (0, 4), each.command


def test_without_a_compiler_the_shipped_snapshots_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """With ``--update-cases`` they are exported from what the compiler of this system builds."""
    compiled = abistore.demo(tmp_path / "compiled")
    assert compiled.compiled
    if request.config.getoption("--update-cases"):
        demonstration.SNAPSHOTS.write_text(json.dumps(dict(exported(compiled))) + "\n")
    monkeypatch.setattr(demonstration, "COMPILERS", ())
    read = abistore.demo(tmp_path / "read")
    assert not read.compiled
    assert findings(read) == findings(compiled) != []


def exported(shown: abistore.Demonstration) -> list[tuple[str, object]]:
    references = ((each, f"{demonstration.LIBRARY}@{each}") for each in demonstration.SOURCES)
    return [
        (version, json.loads(abistore.export(reference, database=shown.database).json))
        for version, reference in references
    ]


@pytest.mark.parametrize("fault", ["exit 1", "kill -9 $$"])
def test_a_compiler_that_fails_is_as_good_as_none(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f"#!/bin/sh\n{fault}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(demonstration, "COMPILERS", (str(broken),))
    assert not abistore.demo(tmp_path / "shown").compiled


def test_a_folder_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine\n")
    with pytest.raises(InputError, match="exists already"):
        abistore.demo(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]
