"""Findings are found by what they affect and mention, by file, and by what is new beside something earlier."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from abistore.interface import BaselinePlan, set_baseline
from tests.build import build_library
from tests.mcp.conftest import NEW, OLD, Agent

DEEP = """
struct inner {{ int a; {} }};
struct outer {{ struct inner in; int b; }};
int through(struct outer *one) {{ return one->b; }}
int other(int a) {{ return a; }}
"""


def library(source: str) -> str:
    return str(build_library(source, soname="libgeo.so.1", name="libgeo.so"))


def compared(agent: Agent, old: str, new: str) -> str:
    found: str = agent("abi_compare", old_input=old, new_input=new, stat=True)["comparison_id"]
    return found


def names(told: dict[str, Any], member: str = "symbol") -> list[str]:
    return [each[member] for each in told["items"]]


def test_an_export_that_breaks_through_its_struct_is_found(modern: Agent) -> None:
    """An agent that asked whether a change breaks it told its user no."""
    comparison = compared(modern, library(DEEP.format("")), library(DEEP.format("long more;")))
    told = modern("abi_findings", comparison_id=comparison, symbol="through")
    assert told["total"] >= 1
    assert {(each["symbol"], each["matched"]) for each in told["items"]} <= {
        ("inner", "affected"),
        ("outer", "affected"),
    }
    assert modern("abi_findings", comparison_id=comparison, symbol="other")["items"] == []


@pytest.mark.parametrize(("symbol", "matched"), [("point", ""), ("norm", "affected"), ("int z at offset", "value")])
def test_it_is_said_how_a_finding_concerns_a_name(symbol: str, matched: str, modern: Agent) -> None:
    told = modern("abi_findings", comparison_id=compared(modern, "libgeo@1.0", "libgeo@2.0"), symbol=symbol)
    assert [(each["symbol"], each.get("matched", "")) for each in told["items"]] == [("point", matched)]


def test_a_type_that_changes_with_another_one_is_found(modern: Agent) -> None:
    comparison = compared(modern, library(DEEP.format("")), library(DEEP.format("long more;")))
    found = modern("abi_findings", comparison_id=comparison, symbol="outer")
    assert found["total"] >= 1
    assert all(each["symbol"] == "outer" or each["matched"] == "consequence" for each in found["items"])


def test_new_exports_that_no_header_declares_are_found(modern: Agent, tmp_path: Path) -> None:
    """They are one finding about the library, whose symbol is empty."""
    header = tmp_path / "geo.h"
    header.write_text("int norm(int a);\n")
    body = "int norm(int a) { return a; }\n"
    sides = [library(body), library(f"{body}int hidden_helper(int a) {{ return a; }}\n")]
    made = modern("abi_compare", old_input=sides[0], new_input=sides[1], headers=[str(header)])
    for asked in ({"symbol": "hidden_helper"}, {"element": "functions", "action": "added"}):
        told = modern("abi_findings", comparison_id=made["comparison_id"], **asked)
        assert [each["kind"] for each in told["items"]] == ["symbols_added.undeclared"], asked


def test_findings_are_filtered_by_the_file_that_declares(modern: Agent) -> None:
    comparison = compared(modern, "libgeo@1.0", "libgeo@2.0")
    every = modern("abi_findings", comparison_id=comparison)["total"]
    found = modern("abi_findings", comparison_id=comparison, path="case.c")
    none = modern("abi_findings", comparison_id=comparison, path="elsewhere.h")
    assert (found["total"] > 0, none["total"], none["excluded"]["filtered_out"]) == (True, 0, every)


def test_two_rounds_of_a_change_are_compared(modern: Agent) -> None:
    """The first removes a function, the second keeps it and grows a struct."""
    first = library(OLD.replace("int gone(void) { return 1; }", ""))
    second = library(OLD.replace("int x, y;", "int x, y, z;"))
    earlier, later = (compared(modern, "libgeo@1.0", side) for side in (first, second))
    asked = {"comparison_id": later, "beside": earlier}
    told = modern("abi_findings", **asked)
    assert (told["beside"]["trend"], told["beside"]["new"], told["beside"]["gone"]) == ("mixed", 1, 1)
    assert {each["novelty"] for each in told["items"]} == {"new"}
    assert names(modern("abi_findings", **asked, novelty="gone")) == ["gone"]
    assert names(modern("abi_findings", **asked, novelty="new")) == ["point"]
    assert modern("abi_findings", comparison_id=later, beside=later)["beside"]["trend"] == "unchanged"


def test_what_is_known_at_the_baseline_is_told_from_what_is_new(modern: Agent, stored: Path, tmp_path: Path) -> None:
    database = shutil.copy(stored, tmp_path / "own.db")
    set_baseline("libgeo@1.1", BaselinePlan(reason="moved"), database=database)
    agent = modern.set(database=str(database))
    comparison = compared(agent, "libgeo@1.0", library(NEW))
    new = agent("abi_findings", comparison_id=comparison, novelty="new")
    known = agent("abi_findings", comparison_id=comparison, novelty="known", beside="1.1")
    assert set(names(new)) == {"gone", "point"}
    assert names(known) == ["fresh"]
    assert new["beside"]["label"] == "libgeo@1.1"


def test_an_earlier_comparison_that_nobody_knows_is_refused(modern: Agent) -> None:
    comparison = compared(modern, "libgeo@1.0", "libgeo@2.0")
    refused = modern.refused("abi_findings", comparison_id=comparison, beside="0123456789abcdef")
    assert refused["error"] == "no comparison is known by 0123456789abcdef"
    assert modern.refused("abi_findings", comparison_id=comparison, beside="7.7")["code"] == "NOT_FOUND"
