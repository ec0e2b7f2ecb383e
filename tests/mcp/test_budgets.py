"""No answer is longer than its budget, however much there is to tell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from abistore.interface import BaselinePlan, IngestPlan, changes, open_store, set_baseline
from abistore.mcp.answers import as_text
from abistore.mcp.operands import Call
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import TOOLS
from abistore.mcp.tools.kinds import RELATED
from tests.build import build_library
from tests.mcp.conftest import Agent
from tests.mcp.every import arguments

BUDGETS = {
    "abi_list": 900,
    "abi_history": 1_000,
    "abi_summary": 600,
    "abi_compare": 1_500,
    "abi_findings": 1_800,
    "abi_finding": 700,
    "abi_symbol_history": 800,
    "abi_gate": 400,
    "abi_whatif": 1_200,
    "abi_pr_summary": 2_200,
    "abi_review_build": 4_500,
    "abi_list_changes": 1_500,
    "abi_explain_change": 330,
    "abi_dump": 300,
    "abi_help": 450,
    "abi_store_stats": 200,
}
"""In units of 4 bytes, for a call that sets no bound of its own."""

HUGE = 600


def units(text: str) -> int:
    return math.ceil(len(text.encode()) / 4)


def test_every_tool_has_a_budget_below_the_usual_one(modern: Agent) -> None:
    assert {tool.name for tool in modern.tools()} == BUDGETS.keys()
    assert max(BUDGETS.values()) <= 4_500


@pytest.mark.parametrize("tool", sorted(BUDGETS))
def test_a_small_answer_is_within_its_budget(tool: str, modern: Agent, libraries: dict[str, Path]) -> None:
    made = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    given = arguments(made["comparison_id"], libraries["2.0"])[tool]
    assert units(modern.call(tool, **given).text) <= BUDGETS[tool]


def test_every_kind_and_every_topic_is_within_its_budget() -> None:
    call = Call("", {}, Settings())
    for kind in changes():
        answer = as_text(TOOLS["abi_explain_change"](call, change_kind=kind.kind))
        assert units(answer) <= BUDGETS["abi_explain_change"], kind.kind
    for topic in RELATED:
        assert units(as_text(TOOLS["abi_help"](call, topic=topic))) <= BUDGETS["abi_help"], topic


def test_a_finding_of_a_large_struct_is_within_its_budget(modern: Agent, tmp_path: Path) -> None:
    fields = "".join(f"long field_number_{number};" for number in range(200))
    sources = [
        f"struct large {{ {more}{fields} }}; long f(struct large *one) {{ return one->field_number_1; }}"
        for more in ("", "int first;")
    ]
    sides = [str(build_library(source, soname="liblarge.so.1", name="liblarge.so")) for source in sources]
    made = modern("abi_compare", old_input=sides[0], new_input=sides[1])
    for change in made["changes"]:
        answer = modern.call("abi_finding", finding_id=change["id"], comparison_id=made["comparison_id"])
        assert units(answer.text) <= BUDGETS["abi_finding"], change["kind"]


def source(field: str, numbers: range) -> str:
    """Many structs with a pointer each to a function that takes them."""
    long = "of_a_name_that_is_as_long_as_those_of_real_libraries_tend_to_be"
    return "".join(
        f"struct s{number} {{ int a; {field} int b; }};\n"
        f"int function_{number}_{long}(struct s{number} *one, struct s{number} two) {{ return one->a + two.b; }}\n"
        for number in numbers
    )


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store with forty releases of one library, of which each declaration changes in the last; and that library."""
    database = tmp_path_factory.mktemp("huge") / "abi.db"
    old = build_library(source("", range(HUGE)), soname="libgeo.so.1", name="libgeo.so")
    new = build_library(source("long z;", range(HUGE // 2, HUGE * 3 // 2)), soname="libgeo.so.1", name="libgeo.so")
    with open_store(database, create=True) as store:
        for number in range(39):
            store.ingest(old, IngestPlan(version=f"1.{number}"))
        store.ingest(new, IngestPlan(version="2.0"))
        set_baseline("libgeo@1.0", BaselinePlan(reason="first"), database=store)
    return database, new


def test_a_huge_answer_is_within_its_budget(huge: tuple[Path, Path], modern: Agent) -> None:
    database, library = huge
    agent = modern.set(database=str(database))
    made = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    assert made["total"] > HUGE
    first = agent("abi_findings", comparison_id=made["comparison_id"], limit=1)["items"][0]["id"]
    given: dict[str, dict[str, Any]] = {
        **arguments(made["comparison_id"], library),
        "abi_finding": {"comparison_id": made["comparison_id"], "finding_id": first},
        "abi_symbol_history": {"symbol": f"s{HUGE - 1}"},
    }
    lengths = {name: units(agent.call(name, **each).text) for name, each in given.items()}
    assert {name: length for name, length in lengths.items() if length > BUDGETS[name]} == {}
    page = agent.call("abi_findings", comparison_id=made["comparison_id"], limit=200, detail_level="full")
    assert units(page.text) <= 2_200
    assert page.document["next_cursor"]


def test_pages_of_a_huge_answer_hold_every_finding_once(huge: tuple[Path, Path], modern: Agent) -> None:
    agent = modern.set(database=str(huge[0]))
    made = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(made["total"]):
        page = agent("abi_findings", comparison_id=made["comparison_id"], limit=200, **cursor)
        seen += [item["id"] for item in page["items"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == made["total"]
