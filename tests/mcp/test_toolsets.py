"""Which tools a server has: all, sets of them, or single ones; and the skill that names them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from abistore.cli.commands.mcp import skill
from abistore.cli.main import run
from abistore.errors import UsageError
from abistore.mcp.prompts import TASKS
from abistore.mcp.server import build_server
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import PROVING, TOOLS, TOOLSETS, WRITING, tools_of
from tests.mcp.conftest import Agent

MOST_BYTES = {"": 24_000, "review": 17_000, "history": 9_000, "review,history": 24_000}
"""The bytes of ``tools/list`` at most, for each set of toolsets; without any, all are served that read."""


@pytest.mark.parametrize("toolsets", MOST_BYTES)
def test_the_tools_of_a_toolset_are_short(toolsets: str, modern: Agent, capsys: pytest.CaptureFixture[str]) -> None:
    tools = modern.set(toolsets=toolsets).tools()
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    length = len(json.dumps(listed, separators=(",", ":")).encode())
    with capsys.disabled():
        print(f"tools/list of {toolsets or 'all that read'}: {len(tools)} tools, {length:,} bytes")
    assert length <= MOST_BYTES[toolsets]


def test_every_tool_is_in_one_toolset() -> None:
    named = [name for names in TOOLSETS.values() for name in names]
    assert sorted(named) == sorted((TOOLS.keys() | WRITING.keys() | PROVING.keys()) - {"abi_help"})


def test_single_tools_are_served_beside_a_toolset() -> None:
    found = tools_of(Settings(toolsets="history", tools="abi_compare, abi_gate"))
    assert found.keys() == {*TOOLSETS["history"], "abi_compare", "abi_gate", "abi_help"}
    assert tools_of(Settings(tools="abi_list")).keys() == {"abi_list", "abi_help"}
    chosen = tools_of(Settings(toolsets="history", tools="abi_ingest", allow_write=True))
    assert chosen.keys() & WRITING.keys() == {"abi_ingest"}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(toolsets="reviews"), "--toolsets reviews: there is none"),
        (Settings(tools="abi_lists"), "--tools abi_lists: there is none"),
        (Settings(toolsets="admin"), "this server only reads"),
    ],
)
def test_a_name_of_none_is_refused_at_the_start(settings: Settings, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        build_server(settings)


def test_a_check_of_the_server_finds_a_name_of_none(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--db", str(stored), "mcp", "serve", "--check", "--toolsets", "bogus"]) == UsageError.exit_code
    assert "--toolsets bogus: there is none" in capsys.readouterr().err


def test_next_names_no_tool_that_is_not_served(modern: Agent) -> None:
    few = modern.set(tools="abi_summary,abi_gate")
    assert {each["tool"] for each in few("abi_summary", library="libgeo")["next"]} == {"abi_gate"}


def test_every_tool_and_prompt_has_a_title_and_says_when_to_use_it(modern: Agent, writer: Agent) -> None:
    for tool in modern.tools():
        assert tool.title, tool.name
        assert re.search(r"\bUse (it|this)\b|Start here", tool.description or ""), tool.name
    assert all(tool.title for tool in writer.tools())
    assert all(task.title for task in TASKS.values())


def test_an_example_of_a_description_names_arguments_of_its_tool() -> None:
    found = 0
    for name, tool in {**TOOLS, **WRITING}.items():
        known = {each.name for each in tool.parameters()}
        _, _, example = tool.description.partition("Example: ")
        words = re.findall(r"\b([a-z_]+)=", example)
        found += bool(words)
        assert set(words) <= known, name
    assert found >= 12


def test_the_skill_names_tools_and_arguments_that_there_are() -> None:
    _, head, body = skill().split("---\n", 2)
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    assert re.fullmatch(r"[a-z-]{1,64}", facts["name"])
    assert 0 < len(facts["description"]) <= 1024
    assert len(body.splitlines()) < 500
    calls = re.findall(r"\b(abi_\w+)(?:\(([^`]*)\))?", body)
    assert len(calls) >= 10
    for name, words in calls:
        known = {each.name for each in {**TOOLS, **WRITING}[name].parameters()}
        assert {word for word in re.findall(r"\b([a-z_]+)=", words) if word != "_"} <= known, name
