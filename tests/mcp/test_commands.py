"""``abistore mcp``: what helps people to set the server up and to try it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from abistore.cli.commands.mcp import starting
from abistore.cli.main import run
from abistore.installing import how_to_install
from abistore.mcp.resources import RESOURCES
from abistore.mcp.tools.all import TOOLS


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], stored: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ABISTORE_DB", str(stored))

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["mcp", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_the_tools_are_listed(said: Any) -> None:
    code, out, _ = said("tools")
    assert code == 0
    assert all(name in out for name in TOOLS)
    listed = json.loads(said("tools", "--schema", "--json")[1])["data"]
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
    assert listed["tools"][0]["inputSchema"]["properties"]["limit"]["type"] == "integer"


def test_addresses_and_prompts_are_listed(said: Any) -> None:
    code, out, _ = said("resources")
    assert code == 0
    assert "abistore://libraries/{library}/history" in out
    assert len(json.loads(said("resources", "--json")[1])["data"]["resources"]) == len([*RESOURCES, "libgeo"])
    code, out, _ = said("prompts")
    assert code == 0
    assert "review_release" in out
    assert "library, version" in out


def test_a_tool_is_called_with_words(said: Any) -> None:
    code, out, err = said("call", "abi_list", "library=libgeo", "limit=2")
    assert code == 0, err
    assert [item["version"] for item in json.loads(out)["items"]] == ["1.0", "1.1"]


def test_a_call_that_a_person_has_to_decide_is_decided_by_who_makes_it(said: Any) -> None:
    asked = ("call", "--allow-write", "abi_baseline", "library=libgeo", "version=2.0", "reason=x", "channel=release")
    code, out, _ = said(*asked)
    assert (code, json.loads(out)["code"]) == (65, -32021)
    assert "--approvals auto" in json.loads(out)["error"]


def test_a_tool_that_writes_is_listed_where_it_is_asked_for(said: Any) -> None:
    assert "abi_ingest" in said("tools", "--allow-write")[1]
    assert json.loads(said("call", "abi_ingest")[1])["code"] == "WRITE_DISABLED"


def test_a_call_that_is_refused_fails(said: Any) -> None:
    code, out, _ = said("call", "abi_list", "library=libgoe")
    assert (code, json.loads(out)["code"]) == (65, "NOT_FOUND")


def test_an_unknown_tool_is_a_usage_error(said: Any) -> None:
    code, _, err = said("call", "abi_lst")
    assert code == 64
    assert "did you mean abi_list?" in err


def test_readiness_is_told(said: Any) -> None:
    code, out, _ = said("serve", "--check")
    assert code == 0
    assert "ready, 3 releases of 1 library, schema" in out


def test_the_line_that_adds_the_server_to_claude_code_is_one_command() -> None:
    (*_, line) = starting("claude-code", "/a b/abi.db").notes
    words = shlex.split(line.removeprefix("or run: "))
    assert words == ["claude", "mcp", "add", "abistore", "--", "abistore-mcp", "--db", "/a b/abi.db"]


def test_without_the_extra_there_is_a_hint(said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.cli.commands.mcp.find_spec", lambda name: None)
    for words in (["serve"], ["tools"], ["resources"], ["prompts"], ["call", "abi_list"]):
        code, out, err = said(*words)
        assert (code, out) == (2, "")
        assert f"install it: {how_to_install('mcp')}" in err
        code, out, _ = said(*words, "--json")
        assert (code, json.loads(out)["error"]["hint"]) == (2, f"install it: {how_to_install('mcp')}")
