"""What could not be read says what to do about it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from abistore.cli.commands.db import freed
from abistore.cli.main import OTHER_WORDS
from abistore.model.history import IngestRequest
from abistore.service.administration import VacuumedStore
from abistore.store.store import Store
from tests.cli.conftest import Call
from tests.store.builders import EXPORTED, function, snapshot

pytestmark = pytest.mark.fast


def hint(done: dict[str, Any]) -> str:
    """The hint of the only thing that was not checked."""
    (item,) = done["not_checked"]
    return str(item["hint"])


def test_without_debug_information_the_ways_to_it_are_named(abistore: Call, old: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "libcase.so"
    shutil.copy(old, stripped)
    subprocess.run(["strip", "-g", stripped], check=True)
    said = hint(abistore("compare", old, stripped, "--json").json)
    assert all(way in said for way in ("-g", "-dbgsym", "-debuginfo", "--debug-dir", "--debuginfod", "DEBUGINFOD_URLS"))


def test_an_ingest_tells_what_it_could_not_see_and_the_ways_to_it(abistore: Call, old: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "libcase.so"
    shutil.copy(old, stripped)
    subprocess.run(["strip", "-g", stripped], check=True)
    stored = ("--db", tmp_path / "abi.db", "ingest", stripped)
    done = abistore(*stored, "--version", "1")
    assert "exports, layout missing: " in done.out
    assert "--debug-dir" in done.err
    assert "layout" not in abistore(*stored, "--version", "2", "--symbols-only").out
    assert "layout" not in abistore("--db", tmp_path / "abi.db", "ingest", old, "--version", "3").out


@pytest.mark.parametrize(
    ("word", "said"),
    [("hist", "did you mean history?"), ("ingets", "did you mean ingest?"), ("", "see `abistore --help`")],
)
def test_a_misspelled_command_is_told_which_is_meant(abistore: Call, word: str, said: str) -> None:
    done = abistore(word)
    assert done.code == 64
    assert f"hint: {said}" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("vacuum",), "`abistore db vacuum`"),
        (("db", "ingest"), "`abistore archive ingest` or `abistore ingest`"),
        (("set",), "`abistore db baseline set`"),
        (("check",), "`abistore db check`, `abistore policy check` or `abistore policy suppress check`"),
        (("clear",), "`abistore db baseline clear`"),
        (("yank",), "`abistore db release tag LIBRARY@VERSION withdrawn`"),
        (("withdraw",), "`abistore db release tag LIBRARY@VERSION withdrawn` or `abistore approve withdraw`"),
        (("statement",), "`abistore verdict LIBRARY@VERSION --statement`"),
        (("prune",), "`abistore db prune`"),
        (("dump",), "`abistore export FILE`"),
    ],
)
def test_a_command_that_stands_elsewhere_is_told_with_its_place(
    abistore: Call, words: tuple[str, ...], said: str
) -> None:
    assert f"hint: did you mean {said}?" in abistore(*words).err


def test_prune_keeps_releases_and_check_tells_of_damage(abistore: Call, database: Path) -> None:
    with Store.open(database, write=True) as store:
        for version in ("1.0", "1.1-3-gabc1234", "1.1-4-gabc1235", "1.1"):
            store.ingest(snapshot(version, symbols={function(version): EXPORTED}), IngestRequest(version))
    words = ("--keep-last", "1")
    assert "1.1-3-gabc1234" in abistore("db", "prune", *words, "--dry-run").out
    assert abistore("db", "prune", *words).code == 0
    assert [each["version"] for each in abistore("list", "libgeo", "--json").json["releases"]] == ["1.0", "1.1"]
    assert abistore("db", "check").out == "sound\n"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("update name set spelling = 'other' where kind = 'function'")
    assert abistore("db", "check").code == 74


@pytest.mark.parametrize("command", OTHER_WORDS.values())
def test_what_other_tools_call_otherwise_is_a_command(abistore: Call, command: str) -> None:
    assert abistore(*command.split(), "--help").code == 0


def test_where_only_some_is_described_the_rest_is_to_be_built_with_it(abistore: Call, tmp_path: Path) -> None:
    for name, flag in (("described", "-g"), ("bare", "-g0")):
        (tmp_path / f"{name}.c").write_text(f"int {name}(void) {{ return 1; }}\n")
        subprocess.run(["gcc", flag, "-fPIC", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-shared", "described.o", "bare.o", "-o", "libpart.so"], cwd=tmp_path, check=True)
    done = abistore("compare", tmp_path / "libpart.so", tmp_path / "libpart.so")
    assert "1 export is not described, e.g. bare (partial-debug-info)" in done.out
    assert "hint: build every source file of the library with -g" in done.out


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (2000, 1500, "500 bytes freed: 2,000 before, 1,500 after"),
        (2000, 2000, "nothing to free: 2,000 bytes"),
        (2000, 2500, "nothing to free: 2,500 bytes (2,000 before)"),
    ],
)
def test_a_vacuum_tells_what_the_disk_has_back(before: int, after: int, said: str) -> None:
    assert freed(VacuumedStore(before, after, max(0, before - after))) == said


def test_a_vacuum_without_anything_to_free_says_so(stored: Call) -> None:
    stored("db", "vacuum")
    done = stored("db", "vacuum")
    assert done.out.startswith("nothing to free: ")
    assert stored("db", "vacuum", "--json").json["vacuum"]["freed"] == 0


def test_an_executable_is_told_to_be_one(abistore: Call, tmp_path: Path) -> None:
    (tmp_path / "tool.c").write_text("int answer(void) { return 42; } int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-rdynamic", "tool.c", "-o", "tool"], cwd=tmp_path, check=True)
    said = "an executable (its exports are what plugins link to)"
    assert f"exports, {said}" in abistore("ingest", tmp_path / "tool", "--version", "1").out
    again = abistore("ingest", tmp_path / "tool", "--version", "2", "--json").json["files"][0]
    assert again["notes"] == [said]


def test_a_library_has_nothing_unusual(abistore: Call, old: Path) -> None:
    assert abistore("ingest", old, "--version", "1", "--json").json["files"][0]["notes"] == []


def test_sizes_have_their_unit(stored: Call) -> None:
    assert stored("db", "stats").out.splitlines()[1].startswith("size in bytes ")


def test_a_detail_of_the_audit_ends_where_it_has_no_more_to_say(stored: Call) -> None:
    stored("db", "baseline", "set", "libcase@1.0")
    assert stored("db", "audit", "--json").json["audit"][0]["detail"] == "1.0; was -"
    stored("db", "baseline", "set", "libcase@1.1", "--reason", "shipped")
    assert stored("db", "audit", "--json").json["audit"][0]["detail"] == "1.1; was 1.0; shipped"
