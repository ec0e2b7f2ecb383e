"""What people get wrong at first, and what the message says to do instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call


@pytest.mark.parametrize("words", [("help",), ("-V",), ("help", "compare"), ("compare", "--help-all")])
def test_what_people_try_first_answers(abistore: Call, words: tuple[str, ...]) -> None:
    assert abistore(*words).code == 0


def test_a_short_help_names_the_whole_one(abistore: Call) -> None:
    short, whole = abistore("compare", "--help").out, abistore("compare", "--help-all").out
    assert "other options: abistore compare --help-all" in short
    assert "--strict-suppressions" not in short
    assert "--strict-suppressions" in whole
    assert "Policy and suppressions:" in whole


@pytest.mark.parametrize("command", ["compare", "history"])
def test_an_ending_that_no_format_has_is_refused_before_anything_is_written(
    stored: Call, old: Path, new: Path, tmp_path: Path, command: str
) -> None:
    operands = (old, new) if command == "compare" else ("libcase",)
    done = stored(command, *operands, "-o", tmp_path / "x.htlm")
    assert done.code == 64
    assert "format has the suffix .htlm" in done.err
    assert not (tmp_path / "x.htlm").exists()


def test_an_option_of_another_command_is_said_with_that_command(stored: Call) -> None:
    done = stored("history", "libcase", "--since", "1.1")
    assert done.code == 64
    assert "`abistore blame --since`" in done.err


def test_a_library_where_a_release_is_wanted_is_asked_which(stored: Call) -> None:
    done = stored("verdict", "libcase")
    assert done.code == 67
    assert "libcase: which release?" in done.err
    assert "libcase@latest" in done.err


@pytest.mark.parametrize("below", ["1.4.0/lib", "1.4.0/usr/lib/x86_64-linux-gnu", "foo-1.4.0/lib64"])
def test_a_version_is_found_above_the_folders_of_an_install(
    abistore: Call, old: Path, tmp_path: Path, below: str
) -> None:
    path = tmp_path / below / "libcase.so"
    path.parent.mkdir(parents=True)
    shutil.copy(old, path)
    done = abistore("ingest", path, "--version-from", "folder", "--json").json
    assert done["files"][0]["release"]["version"] == "1.4.0"


def test_a_gate_without_a_database_says_how_to_compare_with_the_build_of_a_tag(abistore: Call, old: Path) -> None:
    done = abistore("gate", old, "--version", "1.0")
    assert done.code == 74
    assert "git worktree add ../TAG TAG" in done.err
    assert "abistore compare" in done.err


def test_text_fits_the_columns_that_are_asked_for_without_a_terminal(
    abistore: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {}
    for columns in (60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = abistore("explain", "func_removed").out.partition("Other variants")[0]
        lines[columns] = text.splitlines()
    assert max(map(len, lines[60])) <= 60
    assert len(lines[60]) > len(lines[100])


def test_plugins_of_one_name_in_two_folders_are_not_stored_as_one(abistore: Call, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "all" / name).mkdir(parents=True)
        built = build_library(f"int {name}(void) {{ return 1; }}", soname="libplugin.so.1")
        shutil.copy(built, tmp_path / "all" / name / "libplugin.so.1")
    done = abistore("ingest", tmp_path / "all", "--version", "1")
    assert (done.code, "a/libplugin.so.1 and b/libplugin.so.1" in done.err) == (68, True)
    assert abistore("list", "--json").json["lines"] == []


@pytest.mark.parametrize("words", [("help",), ("help", "compare"), ("-V",), ("--version",)])
def test_what_people_try_first_is_no_error(abistore: Call, words: tuple[str, ...]) -> None:
    done = abistore(*words)
    assert (done.code, done.err) == (0, "")
    assert ("Usage: " if words[0] == "help" else "abistore ") in done.out


def test_two_libraries_of_one_name_are_not_stored_as_one(abistore: Call, tmp_path: Path) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    for number, name in ((1, "aa"), (2, "bb")):
        built = build_library(f"int {name}(void) {{ return 1; }}", flags=("-g", f"-Wl,-soname,libduo.so.{number}"))
        shutil.copy(built, folder / f"libduo.so.{number}")
    assert abistore("-q", "ingest", folder, "--version", "1").code == 68
    done = abistore("ingest", folder, "--version", "1")
    assert done.code == 68
    assert abistore("list", "--json").json["lines"] == []
    assert "libduo.so.1" in done.err
    assert "libduo.so.2" in done.err
    assert abistore("ingest", folder, "--version", "1", "--only", "libduo.so.1").code == 0
    other = abistore("ingest", folder, "--version", "1", "--only", "libduo.so.2", "--library", "libduo2")
    assert other.code == 0
    assert "libduo2 1" in other.out
