"""No answer is longer than its budget, however much there is to tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abistore.interface import BaselinePlan, IngestPlan, changes, ingest, open_store, set_baseline
from abistore.mcp.answers import as_text, brief
from abistore.mcp.operands import Call
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import TOOLS
from abistore.mcp.tools.kinds import RELATED
from tests.build import build_library
from tests.mcp.conftest import Agent
from tests.mcp.every import arguments
from tests.mcp.histories import FIELDS, LIBRARY

BUDGETS = {
    "abi_list": 7_500,
    "abi_history": 8_000,
    "abi_summary": 4_800,
    "abi_compare": 12_500,
    "abi_findings": 14_400,
    "abi_finding": 5_600,
    "abi_show": 9_600,
    "abi_consumers": 9_600,
    "abi_symbol_history": 6_400,
    "abi_gate": 3_200,
    "abi_whatif": 9_600,
    "abi_pr_summary": 17_600,
    "abi_review_build": 36_000,
    "abi_list_changes": 12_000,
    "abi_explain_change": 2_640,
    "abi_dump": 2_400,
    "abi_help": 3_600,
    "abi_store_stats": 1_600,
}
"""The bytes that are sent, as text and as structured content, for a call that sets no bound of its own."""

HUGE = 600


def sent(text: str) -> int:
    """The bytes of an answer: its text is sent again as structured content."""
    return 2 * len(text.encode())


def test_every_tool_has_a_budget_below_the_usual_one(modern: Agent) -> None:
    assert {tool.name for tool in modern.tools()} == BUDGETS.keys()
    assert max(BUDGETS.values()) <= 36_000


@pytest.mark.parametrize("tool", sorted(BUDGETS))
def test_a_small_answer_is_within_its_budget(tool: str, modern: Agent, libraries: dict[str, Path]) -> None:
    made = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    given = arguments(made["comparison_id"], libraries["2.0"])[tool]
    assert sent(modern.call(tool, **given).text) <= BUDGETS[tool]


def test_every_kind_and_every_topic_is_within_its_budget() -> None:
    call = Call("", {}, Settings())
    for kind in changes():
        answer = as_text(TOOLS["abi_explain_change"](call, change_kind=kind.kind))
        assert sent(answer) <= BUDGETS["abi_explain_change"], kind.kind
    for topic in RELATED:
        assert sent(as_text(TOOLS["abi_help"](call, topic=topic))) <= BUDGETS["abi_help"], topic


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
        assert sent(answer.text) <= BUDGETS["abi_finding"], change["kind"]


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
            ingest(old, IngestPlan(version=f"1.{number}"), database=store)
        ingest(new, IngestPlan(version="2.0"), database=store)
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
    lengths = {name: sent(agent.call(name, **each).text) for name, each in given.items()}
    assert {name: length for name, length in lengths.items() if length > BUDGETS[name]} == {}


@pytest.mark.parametrize("level", ["summary", "normal", "full"])
def test_a_limit_is_honoured(level: str, huge: tuple[Path, Path], modern: Agent) -> None:
    agent = modern.set(database=str(huge[0]))
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    made = agent("abi_compare", **sides, limit=200, detail_level=level)
    assert made["returned"] == len(made["changes"]) == 200
    page = agent.call("abi_findings", comparison_id=made["comparison_id"], limit=200, detail_level=level)
    assert page.document["returned"] == len(page.document["items"]) == 200
    assert sent(page.text) <= 4 * agent.settings.max_response_units
    assert agent("abi_history", library="libgeo", limit=40)["returned"] == 40
    assert agent("abi_list_changes", impact="breaking", limit=100)["returned"] == 100


def test_what_a_page_leaves_out_is_a_call_of_next(huge: tuple[Path, Path], modern: Agent) -> None:
    """The call has the same arguments, and the sentence says how much is left and what one answer can have."""
    agent = modern.set(database=str(huge[0]))
    made = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    asked = {"comparison_id": made["comparison_id"], "impact": "breaking", "limit": 50}
    page = agent("abi_findings", **asked)
    more = page["next"][0]
    assert (more["tool"], more["arguments"]) == ("abi_findings", {**asked, "cursor": page["next_cursor"]})
    assert more["say"] == f"Read on: {page['total'] - 50:,} more; one answer has at most 200 items and 1,600,000 bytes."
    rest = agent(more["tool"], **more["arguments"])
    assert not {item["id"] for item in page["items"]} & {item["id"] for item in rest["items"]}


def test_nothing_is_cut_at_the_level_full(wide_agent: Agent, wide_build: tuple[Path, Path]) -> None:
    sides = {"old_input": f"{LIBRARY}@baseline", "new_input": str(wide_build[0])}
    made = wide_agent("abi_compare", **sides, detail_level="full", limit=200)
    assert "more characters" not in str(made["changes"])
    assert all(len(change.get("affected", ())) == change.get("affected_count", 0) for change in made["changes"])
    grown = next(change for change in made["changes"] if change["symbol"] == "wide_loop")
    asked = {"finding_id": grown["id"], "comparison_id": made["comparison_id"]}
    short, whole = wide_agent("abi_finding", **asked), wide_agent("abi_finding", **asked, detail_level="full")
    assert (short["before"], short["after"]) == (None, None)
    assert any(line.startswith("+") and "added_by_release_1;" in line for line in short["difference"])
    assert short["next"][0]["arguments"] == {**asked, "detail_level": "full"}
    for number in range(FIELDS):
        assert f"field_number_{number};" in whole["before"]
        assert f"field_number_{number};" in whole["after"]


def test_a_text_is_cut_at_a_line_or_a_word_and_says_so() -> None:
    assert brief("word " * 100, 60) == "word word word word word... (476 more characters)"
    assert brief("line one\nline two\nline three", 28) == "line one\nline two\nline three"
    assert (
        brief("struct a {\n" + "    int field;\n" * 40 + "};", 100).splitlines()[-1].startswith("    int field;... (")
    )


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
