"""Patterns for libraries: one answer and one exit code over all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import abistore as python
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

FIRST = "struct point {{ int x, y; }}; int {name}(struct point *p) {{ return p->x; }}"
SECOND = "struct point {{ int x, z, y; }}; int {name}(struct point *p) {{ return p->x; }}"
NAMES = ("liba", "libb", "other")


@pytest.fixture
def three(abistore: Call) -> Call:
    """The command line over three libraries, of which `libb` breaks in its second release."""
    for name in NAMES:
        for version, source in (("1.0", FIRST), ("1.1", SECOND if name == "libb" else FIRST)):
            built = build_library(source.format(name=f"{name}_run"), name=f"{name}.so", soname=f"{name}.so.1")
            assert abistore("ingest", built, "--version", version).code == 0
    return abistore


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()[1:]]


def test_a_pattern_selects_histories_which_are_a_line_each(three: Call) -> None:
    done = three("history", "lib*")
    assert first_words(done.out) == ["liba", "libb"]
    assert [line.split()[7:9] for line in done.out.splitlines()[1:]] == [["pass"], ["fail", "1.1"]]
    found = three("history", "lib*", "--json").json
    assert [each["line"]["library"] for each in found["histories"]] == ["liba", "libb"]
    assert found["failed"] == []


def test_one_library_is_shown_in_full_whatever_names_it(three: Call) -> None:
    assert three("history", "libb").out == three("history", "libb*").out
    assert "failed" not in three("history", "libb", "--json").json


def test_all_means_every_library_and_goes_with_no_name(three: Call) -> None:
    for verb in ("history", "blame", "show"):
        assert first_words(three(verb, "--all").out) == list(NAMES)
        assert (
            three(verb, "liba", "--all", "x").code == 64 if verb == "show" else three(verb, "liba", "--all").code == 64
        )
    assert three("list", "--all").out == three("list").out
    assert three("list", "liba", "--all").code == 64


def test_a_library_that_fails_gives_its_code_and_stops_no_other(three: Call) -> None:
    done = three("history", "liba", "none", "libb")
    assert done.code == 67
    assert first_words(done.out) == ["liba", "libb", "none:"]
    found = three("history", "liba", "none", "--json")
    assert found.code == 67
    assert [(each["library"], each["code"]) for each in found.json["failed"]] == [("none", "not-found")]
    assert [each["line"]["library"] for each in found.json["histories"]] == ["liba"]


def test_a_pattern_that_matches_nothing_is_an_error(three: Call) -> None:
    for verb in ("history", "show", "list"):
        assert three(verb, "no*").code == 67
    assert three("log", "point", "--library", "no*").code == 67


def test_nothing_named_is_an_error(three: Call) -> None:
    for verb in ("history", "blame", "show"):
        done = three(verb)
        assert done.code == 64
        assert "--all" in done.err


def test_blame_has_a_line_for_each_library_and_takes_a_release_of_each(three: Call) -> None:
    rows = [line.split() for line in three("blame", "lib*@1.1").out.splitlines()]
    assert [(row[0], row[6]) for row in rows[1:]] == [("liba", "0"), ("libb", "1")]
    assert [each["line"]["library"] for each in three("blame", "lib*", "--json").json["blames"]] == ["liba", "libb"]


def test_blame_takes_a_star_in_a_declaration_for_a_declaration(three: Call) -> None:
    done = three("blame", "no*where")
    assert done.code == 67
    assert "no stored library has such a declaration" in done.err


def test_a_declaration_is_looked_for_in_the_libraries_that_match(three: Call) -> None:
    found = three("log", "libb_run", "--library", "lib*", "--json").json["events"]
    assert {each["line"]["library"] for each in found} == {"libb"}
    assert three("log", "other_run", "--library", "lib*").code == 67
    assert three("blame", "point", "--library", "lib*", "--json").json["found"]
    shown = three("show", "lib*", "libb_run", "--json")
    assert shown.code == 0
    assert [each["operand"] for each in shown.json["declared"]] == ["libb@latest"]


def test_show_has_a_line_or_a_list_for_each_library(three: Call) -> None:
    assert first_words(three("show", "lib*@1.0").out) == ["liba", "libb"]
    found = three("show", "lib*", "--exports", "--json").json
    assert [each["release"]["line"]["library"] for each in found["inventories"]] == ["liba", "libb"]
    assert three("show", "--all", "point", "--json").json["declared"][2]["operand"] == "other@latest"


def test_list_lists_the_lines_that_match(three: Call) -> None:
    assert first_words(three("list", "lib*").out) == ["liba", "libb"]
    assert first_words(three("list", "other", "libb").out) == ["libb", "other"]
    assert three("list", "liba", "none").code == 67


def test_python_has_the_same_patterns(three: Call, database: Path) -> None:
    names = python.matching(["lib*"], database=database)
    assert names == ("liba", "libb")
    found = python.of_each(names, lambda name, store: python.history(name, database=store), database=database)
    assert [each[0].line.library for each in found.results] == ["liba", "libb"]
    assert (found.failed, found.exit_code) == ((), 0)
