"""``abistore.toml``: every option has its place there or a reason, and each value says where it came from."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from abistore.cli.commands.config import COMMANDS
from abistore.cli.main import cli
from abistore.cli.reading_options import key_of, places
from abistore.service.project import NOTHING
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

SOURCE = "int area(int x) { return x; }\nint extra(int x) { return x; }\n"
LESS = "int area(int x) { return x; }\n"

OF_ONE_BUILD = "it is said of one build"
OF_ONE_ANSWER = "it says how one answer is shown"
HEADERS = "the table [headers] has it"
NO_PLACE = {
    **dict.fromkeys(("version", "revision", "url", "released", "expected_digest", "actor"), OF_ONE_BUILD),
    **dict.fromkeys(("replace", "replace_baseline", "dry_run", "merge_base", "bootstrap"), OF_ONE_BUILD),
    **dict.fromkeys(
        ("target", "arch", "pdb", "debug_package", "devel_package", "package_index", "suite", "for"), OF_ONE_BUILD
    ),
    **dict.fromkeys(("old_header", "new_header", "old_include_dir", "new_include_dir"), OF_ONE_BUILD),
    **dict.fromkeys(("old_devel_package", "new_devel_package", "header_patch", "declare"), OF_ONE_BUILD),
    **dict.fromkeys(
        ("format", "output", "mode", "full", "show_only", "plot", "github", "gitlab", "witness"), OF_ONE_ANSWER
    ),
    **dict.fromkeys(("json", "quiet", "verbose", "color", "bisect"), OF_ONE_ANSWER),
    **dict.fromkeys(("header", "private_header", "include_dir", "define", "std", "language"), HEADERS),
    **dict.fromkeys(("compile_commands", "clang_target", "sysroot"), HEADERS),
    "clang_arg": "it could load code of whoever wrote the file",
    "db": "a repository's file must not decide where results go",
    "config": "it names the file",
    "compare.allow": "two files are no releases of a line",
    "compare.consumers": "two files are no releases of a line",
    "help_all": OF_ONE_ANSWER,
    **dict.fromkeys(
        ("all_baselines", "all_targets", "statement", "compare_with_strict", "comment", "all"), OF_ONE_ANSWER
    ),
    **dict.fromkeys(("bundle", "export.channel", "gate.surface", "sign", "verify", "verdict.library"), OF_ONE_BUILD),
    "verdict.against": "ingest.against is the gate's; this asks one question",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_its_place_in_the_file_or_a_reason(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    placed = {parameter for parameter, _, _ in places(command, NOTHING)}
    options = [each for each in command.params if isinstance(each, click.Option)]
    for option in options:
        key = key_of(option)
        homeless = key not in NO_PLACE and f"{name}.{key}" not in NO_PLACE
        assert (option.name in placed) is homeless, f"{name} --{key}"


def written(folder: Path, text: str) -> Path:
    path = folder / "abistore.toml"
    path.write_text(text)
    return path


def test_options_default_to_what_the_file_says_and_win_over_it(abistore: Call, tmp_path: Path) -> None:
    file = written(tmp_path, 'library = "libsaid"\n[ingest]\nagainst = "baseline:lts"\nset_baseline_if_none = "lts"\n')
    first = abistore("ingest", build_library(SOURCE), "--version", "1.0", "--config", file, "--json").json["files"][0]
    assert (first["release"]["line"]["library"], first["baseline"]) == ("libsaid", "lts")
    broken = build_library(LESS)
    assert abistore("ingest", broken, "--version", "1.1", "--config", file).code == 4
    other = abistore("ingest", broken, "--version", "1.1", "--config", file, "--against", "prev", "--library", "libx")
    assert other.code == 0


def test_a_gate_takes_policy_and_suppressions_beside_the_file(abistore: Call, tmp_path: Path) -> None:
    abistore("ingest", build_library(SOURCE), "--version", "1.0", "--library", "libx", "--set-baseline")
    folder = tmp_path / "project"
    (folder / "abi").mkdir(parents=True)
    (folder / "abi" / "accepted.yaml").write_text(
        "suppressions:\n  - symbol: extra\n    change_kind: func_removed\n    reason: nobody called it\n"
    )
    file = written(folder, 'library = "libx"\nsuppress = ["abi/accepted.yaml"]\nfail_on = "risk"\n')
    gate = ("gate", build_library(LESS), "--version", "1.1", "--config", file, "--json")
    report = abistore(*gate).json["files"][0]["judged"]["verdict"]
    assert [each["display"] for each in report["suppressed"]] == ["extra"]


def test_every_setting_says_where_it_came_from(abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, 'fail_on = "risk"\nlibrary = "libx"\n[headers]\nheaders = ["include"]\n')
    monkeypatch.setenv("ABISTORE_DOCS_BASE", "https://example.org/kinds")
    done = abistore("config", "show", "--config", file, "--json", "gate", "--library", "liby")
    found = {each["key"]: (each["value"], each["source"], each["where"]) for each in done.json["settings"]}
    assert found["fail_on"] == ("risk", "file", str(file))
    assert found["library"] == ("liby", "option", "--library")
    assert found["docs_base"] == ("https://example.org/kinds", "environment", "ABISTORE_DOCS_BASE")
    assert found["allow"] == ("scheme", "default", "")
    assert found["consumers"] == (False, "default", "")
    assert found["headers.headers"] == ([str(tmp_path / "include")], "file", str(file))
    assert "fail_on" in abistore("config", "show", "--config", file).out


def test_a_window_is_shown_as_the_file_has_it(abistore: Call, tmp_path: Path) -> None:
    """It was shown as a setting of the file without a value."""
    file = tmp_path / "abistore.toml"
    file.write_text('deprecation = "2 minor"\n')
    done = abistore("config", "show", "--config", file, "--json", "gate")
    assert next(one for one in done.json["settings"] if one["key"] == "deprecation")["value"] == "2 minor"


def test_a_database_with_a_password_is_shown_without_it(abistore: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABISTORE_DB", "mysql://me:hidden1@host/abi")
    done = abistore("config", "show", "verdict")
    assert "me:***@host" in done.out and "hidden1" not in done.out + done.err


def test_a_command_that_takes_nothing_of_the_file_is_refused(abistore: Call) -> None:
    done = abistore("config", "show", "list", "--json")
    assert (done.code, done.error["code"]) == (64, "usage")


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('library = "x"\n\n[ingest]\nagains = "x"\n', "abistore.toml:4: ", "did you mean against?"),
        ('library = "x"\nfail_on = "x"\n', "abistore.toml:2: ", "breaking, api_break, risk, never"),
        ('library = "x"\n[headers]\nheaders = [1]\n', "abistore.toml:3: ", ""),
        ('[gate]\n[ingest]\n[headers]\nprivate = ["x"]\n', "abistore.toml:3: ", ""),
        ("library = \n", "at line 1", ""),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_line(
    abistore: Call, tmp_path: Path, text: str, said: str, hint: str
) -> None:
    done = abistore("verdict", "libx@1.0", "--config", written(tmp_path, text), "--json")
    assert (done.code, done.error["code"]) == (64, "config")
    assert said in done.error["message"]
    assert hint in done.error["hint"]
