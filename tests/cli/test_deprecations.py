"""Deprecation windows: since when, when a removal is allowed, and a gate that fails what goes too early."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done
from tests.statement_schema import STATEMENTS

KEPT = "int area(int x);\n"
MARK = "__attribute__((deprecated)) "
SOURCE = "int area(int x) { return x; }\n"
OLD = "int old(int x) { return x; }\n"


def ingest(call: Call, folder: Path, version: str, header: str, *words: str) -> Done:
    path = folder / version / "api.h"
    path.parent.mkdir()
    path.write_text(f"{KEPT}{header}")
    library = build_library(f"{SOURCE}{OLD if header else ''}", soname=f"libfoo.so.{version[0]}")
    return call("ingest", library, "--library", "libfoo", "--version", version, "--header", path, *words)


@pytest.fixture
def history(abistore: Call, tmp_path: Path) -> Call:
    """1.0.0 has a function, which 1.1.0 deprecates."""
    assert ingest(abistore, tmp_path, "1.0.0", "int old(int x);\n").code == 0
    assert ingest(abistore, tmp_path, "1.1.0", f"{MARK}int old(int x);\n").code == 0
    return abistore


def states(call: Call, *words: str) -> list[tuple[str, str, str, str]]:
    (line,) = call("show", "--deprecated", "libfoo", *words, "--json").json["deprecations"]
    return [(each["display"], each["state"], each["since"], each["removable"]) for each in line["items"]]


def test_what_is_deprecated_says_since_when_and_when_it_may_go(history: Call, tmp_path: Path) -> None:
    assert states(history) == [("old", "deprecated", "1.1.0", "")]
    assert states(history, "--deprecation", "2 minor") == [("old", "deprecated", "1.1.0", "1.3.0")]
    assert states(history, "--deprecation", "1 release") == [
        ("old", "deprecated", "1.1.0", "the 1st release after 1.1.0")
    ]
    ingest(history, tmp_path, "1.3.0", f"{MARK}int old(int x);\n")
    assert states(history, "--deprecation", "2 minor releases") == [("old", "removable", "1.1.0", "1.3.0")]
    assert "1.1.0" in history("show", "--deprecated", "libfoo").out


def test_a_declaration_that_is_taken_back_is_no_longer_deprecated(history: Call, tmp_path: Path) -> None:
    ingest(history, tmp_path, "1.2.0", "int old(int x);\n")
    assert states(history) == []
    assert "nothing is deprecated" in history("show", "--deprecated", "libfoo").out


def test_what_went_too_early_or_unannounced_is_told(history: Call, tmp_path: Path) -> None:
    ingest(history, tmp_path, "2.0.0", "")
    assert states(history, "--deprecation", "1 major") == [("old", "removed", "1.1.0", "2.0.0")]
    assert states(history, "--deprecation", "400 days")[0][1] == "too-early"
    assert states(history) == [("old", "removed", "1.1.0", "")]


def test_a_removal_that_nobody_announced_is_told(abistore: Call, tmp_path: Path) -> None:
    ingest(abistore, tmp_path, "1.0.0", "int old(int x);\n")
    ingest(abistore, tmp_path, "2.0.0", "")
    assert states(abistore, "--deprecation", "1 major") == [("old", "undeprecated", "", "")]


@pytest.mark.parametrize(("window", "code"), [("1 major", 0), ("2 major", 4), ("1 release", 0), ("400 days", 4)])
def test_a_gate_lets_a_major_release_remove_only_what_was_deprecated_long_enough(
    history: Call, tmp_path: Path, window: str, code: int
) -> None:
    done = ingest(history, tmp_path, "2.0.0", "", "--against", "prev", "--deprecation", window)
    assert done.code == code
    told = " ".join(done.out.split())
    assert "BREAKING" in told
    if code:
        assert "(deprecated since 1.1.0): restore early removals" in told
    else:
        assert history("verdict", "libfoo@2.0.0", "--deprecation", window).code == 0
        assert history("verdict", "libfoo@2.0.0", "--deprecation", "9 major").code == 4


@pytest.mark.parametrize(
    ("window", "row"),
    [
        ("1 major", "old since 1.1.0 2.0.0 in time"),
        ("2 major", "old since 1.1.0 3.0.0 too early"),
        (None, "old since 1.1.0"),
    ],
)
def test_a_statement_says_of_each_removal_whether_it_was_announced_in_time(
    history: Call, tmp_path: Path, window: str | None, row: str
) -> None:
    ingest(history, tmp_path, "2.0.0", "")
    words = ["--deprecation", window] if window else []
    done = history("verdict", "--statement", "libfoo@2.0.0", *words)
    assert row in [" ".join(line.split()) for line in done.out.splitlines()]
    answer = history("verdict", "--statement", "libfoo@2.0.0", *words, "--json")
    STATEMENTS.validate(answer.envelope)
    stated = answer.json["statement"]
    assert (stated["outcome"], stated["deprecation"]) == ("fail" if window == "2 major" else "pass", window or "")
    early = "old may be removed from 3.0.0 on (deprecated since 1.1.0): restore early removals"
    assert (early in stated["sentence"]) == (window == "2 major")


def test_a_statement_says_what_nobody_announced(abistore: Call, tmp_path: Path) -> None:
    ingest(abistore, tmp_path, "1.0.0", "int old(int x);\n")
    ingest(abistore, tmp_path, "2.0.0", "")
    done = abistore("verdict", "--statement", "libfoo", "--deprecation", "1 minor")
    assert "old was never deprecated" in done.out.splitlines()[0]
    assert "old never unannounced" in [" ".join(line.split()) for line in done.out.splitlines()]
    assert abistore("verdict", "--statement", "libfoo", "--json").json["statement"]["outcome"] == "pass"


def test_what_was_never_deprecated_fails_the_gate_of_a_project_that_says_so(abistore: Call, tmp_path: Path) -> None:
    (tmp_path / "abistore.toml").write_text('deprecation = "1 minor"\n')
    ingest(abistore, tmp_path, "1.0.0", "int old(int x);\n")
    done = ingest(abistore, tmp_path, "2.0.0", "", "--against", "prev", "--config", str(tmp_path / "abistore.toml"))
    assert (done.code, "old was never deprecated" in " ".join(done.out.split())) == (4, True)
    assert ingest(abistore, tmp_path, "2.1.0", "", "--against", "prev").code == 0


def test_releases_without_headers_say_nothing_and_are_named(history: Call, tmp_path: Path) -> None:
    library = build_library(SOURCE, soname="libfoo.so.1")
    assert history("ingest", library, "--library", "libfoo", "--version", "1.2.0").code == 0
    assert states(history) == [("old", "deprecated", "1.1.0", "")]
    assert "not checked: 1.2.0, read without headers" in history("show", "--deprecated", "libfoo").out


@pytest.mark.parametrize("text", ["soon", "0 minor", "2", "-1 days", "2 fortnights"])
def test_what_is_no_window_is_refused_with_an_example(history: Call, text: str) -> None:
    done = history("show", "--deprecated", "libfoo", "--deprecation", text, "--json")
    assert (done.code, done.error["code"]) == (64, "usage")
    assert "'2 minor'" in done.error["hint"]


@pytest.mark.parametrize(("window", "allowed"), [("1 major", True), ("2 major", False), (None, True)])
def test_ledger_and_history_know_what_was_not_announced_long_enough(
    history: Call, tmp_path: Path, window: str | None, allowed: bool
) -> None:
    ingest(history, tmp_path, "2.0.0", "")
    words = ["--deprecation", window] if window else []
    (standing, *_) = history("verdict", "--all-baselines", "libfoo@2.0.0", *words, "--json").json["ledgers"][0][
        "standings"
    ]
    assert standing["decision"]["promise"]["allowed"] is allowed
    row = history("history", "libfoo", *words, "--json").json["histories"][0]["rows"][-1]
    assert row["decision"]["promise"] == standing["decision"]["promise"]
    early = "old may be removed from 3.0.0 on (deprecated since 1.1.0): restore early removals"
    assert (early in history("verdict", "--all-baselines", "libfoo", *words).out) is not allowed
    assert ("! incompatible, and not allowed" in history("history", "libfoo", *words).out) is not allowed


def test_the_projects_file_gives_the_window_to_ledger_and_history(history: Call, tmp_path: Path) -> None:
    ingest(history, tmp_path, "2.0.0", "")
    file = tmp_path / "abistore.toml"
    file.write_text('deprecation = "2 major"\n')
    assert "early removals" in history("verdict", "--all-baselines", "libfoo", "--config", file).out
    assert "not allowed" in history("history", "libfoo", "--config", file).out
    assert "not allowed" not in history("history", "libfoo").out


def test_a_constructor_is_listed_once_whatever_symbols_it_has(abistore: Call, tmp_path: Path) -> None:
    header, text = tmp_path / "api.hpp", "struct Box { Box(int); int held; };\n"
    built = build_library(text + "Box::Box(int a) : held(a) {}\nvoid kept() {}\n", language="c++")
    for version, said in (("1.0.0", text), ("2.0.0", "struct Box { int held; };\n")):
        header.write_text(f"{said}void kept();\n")
        words = ("--library", "libfoo", "--version", version, "--header", header)
        assert abistore("ingest", built, *words).code == 0
    assert [each[0] for each in states(abistore)] == ["Box::Box(int)"]


def test_private_members_are_not_listed(abistore: Call, tmp_path: Path) -> None:
    """No program uses them, so that none waits for them to go."""
    members = "{0} void shown(); private: {0} void hidden(); {0} static int kept;"
    bodies = "void Box::shown() {} void Box::hidden() {} int Box::kept;\n"
    header, text = tmp_path / "api.hpp", "class Box {{ public: {} }};\n"
    built = build_library(text.format(members.format("")) + bodies, language="c++")
    for version, said in (("1.0.0", members.format("[[deprecated]]")), ("2.0.0", "void other();")):
        header.write_text(text.format(said))
        words = ("--library", "libfoo", "--version", version, "--header", header)
        assert abistore("ingest", built, *words).code == 0
        assert [each[0] for each in states(abistore)] == ["Box::shown()"]


def described(done: Done) -> str:
    (found,) = [each for each in done.json["changes"] if each["kind"] == "func_removed"]
    return str(found["description"])


def test_a_verdict_and_a_gate_say_since_which_release_a_removed_function_was_deprecated(
    history: Call, tmp_path: Path
) -> None:
    ingest(history, tmp_path, "1.2.0", f"{MARK}int old(int x);\n")
    gated = ingest(history, tmp_path, "2.0.0", "", "--against", "prev")
    ingest(history, tmp_path, "2.1.0", "")
    assert "deprecated since 1.1.0" in " ".join(gated.out.split())
    assert described(history("verdict", "libfoo@2.1.0", "--against", "1.2.0", "--json")).endswith(
        "deprecated since 1.1.0"
    )
    assert "deprecated" not in described(history("verdict", "libfoo@2.1.0", "--against", "1.0.0", "--json"))


def test_a_comparison_of_files_says_that_the_previous_release_deprecated_a_function(
    abistore: Call, tmp_path: Path
) -> None:
    words: list[str | Path] = []
    for side, header, source in (("old", f"{KEPT}{MARK}int old(int x);\n", SOURCE + OLD), ("new", KEPT, SOURCE)):
        path = tmp_path / side / "api.h"
        path.parent.mkdir()
        path.write_text(header)
        words += [build_library(source), f"--{side}-header", path]
    told = described(abistore("compare", *words, "--json"))
    assert told.endswith("; deprecated in the previous release")
