"""``abi_witness``: programs that show breaks, only where the server was started with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.mcp.tools.all import PROVING
from tests.mcp.conftest import Agent


def test_a_server_has_it_only_when_started_so(modern: Agent) -> None:
    assert "abi_witness" not in {tool.name for tool in modern.tools()}
    refused = modern.refused("abi_witness", old_input="libgeo@1.0", new_input="libgeo@2.0")
    assert (refused["code"], refused["error"]) == ("WRITE_DISABLED", "abi_witness: this server starts no compiler")
    assert "--allow-witness" in refused["hint"]
    assert {tool.name for tool in modern.set(allow_witness=True).tools()} >= PROVING.keys()


def test_breaks_of_stored_releases_are_shown(modern: Agent) -> None:
    told = modern.set(allow_witness=True)("abi_witness", old_input="libgeo@1.0", new_input="libgeo@2.0")
    assert told["total"] == len(told["items"]) + told["left_out"]
    shown = {each["kind"]: each for each in told["items"]}
    assert shown["type_field_added"]["state"] == "shown"
    assert "sizeof(struct point)" in shown["type_field_added"]["program"]
    assert shown["type_field_added"]["before"] != shown["type_field_added"]["after"]


def test_a_named_finding_of_two_files_is_shown_alone(modern: Agent, libraries: dict[str, Path]) -> None:
    user = modern.set(allow_witness=True)
    given = {"old_input": str(libraries["1.0"]), "new_input": str(libraries["2.0"])}
    told = user("abi_witness", **given, findings=["func_removed"])
    (item,) = told["items"]
    assert (item["name"], item["sort"]) == ("gone", "link")
    assert "undefined reference to `gone'" in item["after"]


@pytest.mark.parametrize("limit", [1, 2])
def test_so_many_breaks_are_shown_as_are_asked_for(modern: Agent, limit: int) -> None:
    given = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0", "limit": limit}
    assert len(modern.set(allow_witness=True)("abi_witness", **given)["items"]) == limit
