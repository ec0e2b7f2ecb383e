"""What ``log`` and ``history`` tell beside the changes: what cannot be known, and where to look next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

LOOP = "struct loop_s {{ int a{more}; }}; typedef struct loop_s loop_t; int run(loop_t *l) {{ return l->a; }}"
STRINGS = """
#include <string>
namespace geo { int size(const std::string &text) { return text.size(); } std::string hold; }
"""
FOREIGN = "namespace std {{ template <class T> T twice(T x) {{ return x + x; }} }} int keep(int x) {{ return {how}; }}"


@pytest.fixture
def bare(abistore: Call, tmp_path: Path) -> Call:
    """The command line over one release without debug information."""
    library = build_library(LOOP.format(more=""), flags=("-g0",))
    assert abistore("ingest", library, "--version", "1.0").code == 0
    return abistore


def test_types_that_no_release_could_show_are_told_to_be_unknown(bare: Call) -> None:
    said = "types {}not known, for want of debug information"
    assert said.format("are ") in bare("log", "loop_s", "--library", "libcase").err
    assert said.format("of libcase are ") in bare("log", "loop_s").err


def test_types_that_a_release_could_show_are_known(bare: Call) -> None:
    bare("ingest", build_library(LOOP.format(more="")), "--version", "1.1")
    assert "not known" not in bare("log", "lop_s").err


def test_an_alias_leads_to_the_type_behind_it(abistore: Call) -> None:
    for version, more in (("1.0", ""), ("1.1", ", b")):
        abistore("ingest", build_library(LOOP.format(more=more)), "--version", version)
    done = abistore("log", "loop_t")
    assert done.out.endswith("\nloop_t is an alias of loop_s: see `abistore log loop_s --library libcase`\n")
    assert [event["alias_of"] for event in abistore("log", "loop_t", "--json").json["events"]] == ["loop_s"]
    assert "alias" not in abistore("log", "loop_s").out


def test_what_the_oldest_release_has_did_not_appear_in_it(stored: Call) -> None:
    first = stored("log", "norm").out.splitlines()[1]
    assert first.startswith("+ 1.0")
    assert "first stored" in first
    assert "appeared" in stored("log", "fresh").out
    events = stored("log", "gone", "--json").json["events"]
    assert [(event["action"], event["first_stored"]) for event in events] == [
        ("appeared", True),
        ("appeared", True),
        ("vanished", False),
        ("vanished", False),
    ]


@pytest.mark.parametrize("name", ["std::string", "geo::size(const std::string&)", "geo::hold[abi:cxx11]"])
def test_a_name_is_found_as_it_is_printed(abistore: Call, name: str) -> None:
    library = build_library(STRINGS, language="c++")
    abistore("ingest", library, "--version", "1.0")
    for words in (("show", "libcase@1.0", name), ("log", name)):
        done = abistore(*words)
        assert done.code == 0, done.err
        assert name.partition("(")[0] in done.out


def test_names_that_came_or_went_beside_no_change_are_called_notices(abistore: Call) -> None:
    for version, how in (("1.0", "std::twice(x)"), ("1.1", "x + x")):
        library = build_library(FOREIGN.format(how=how), language="c++", flags=("-g", "-O0"))
        abistore("ingest", library, "--version", version)
    row = next(line for line in abistore("history", "libcase").out.splitlines() if line.startswith("1.1"))
    assert row.split()[3:8] == ["0", "1", "0", "NO_CHANGE,", "1"]
    assert "notice" in row
    assert [one["notices"] for one in abistore("history", "libcase", "--json").json["histories"][0]["rows"]] == [0, 1]
