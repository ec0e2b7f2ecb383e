"""What clients are told of the tools: names, schemas, hints and lengths that every client can take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from abistore import __version__
from abistore.mcp.server import INSTRUCTIONS, WRITING_TOO
from abistore.mcp.tools.all import WRITING
from tests.mcp.conftest import Agent, Era

MOST_BYTES = 24_000
SNAPSHOT = Path(__file__).parent / "surface.json"
MIME_TYPES = {"application/json", "application/sarif+json", "text/html", "text/markdown"}
DESTRUCTIVE = {"abi_baseline", "abi_delete"}


def wire(agent: Agent) -> list[dict[str, Any]]:
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in agent.tools()]


def addresses(agent: Agent) -> dict[str, Any]:
    async def asked(client: Client) -> tuple[Any, ...]:
        fixed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        return fixed, templates, (await client.list_prompts()).prompts

    named = zip(("resources", "templates", "prompts"), agent.ask(asked), strict=True)
    return {
        name: [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in listed]
        for name, listed in named
    }


def test_all_tools_together_are_short(agent: Agent) -> None:
    assert len(json.dumps(wire(agent), separators=(",", ":")).encode()) <= MOST_BYTES


def test_no_client_cuts_a_description(agent: Agent, writer: Agent) -> None:
    assert len((INSTRUCTIONS + WRITING_TOO).encode()) < 2048
    for tool in (*wire(agent), *wire(writer)):
        assert 40 < len(tool["description"].encode()) < 2048, tool["name"]


def test_names_fit_every_client(writer: Agent) -> None:
    for tool in wire(writer):
        assert re.fullmatch(r"abi_[a-z_]{2,40}", tool["name"])
        assert len("abistore") + len(tool["name"]) < 60


def test_all_four_hints_are_said(agent: Agent) -> None:
    for tool in wire(agent):
        assert tool["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }, tool["name"]


def test_the_hints_of_what_writes_are_true(writer: Agent) -> None:
    """Destructive is what moves or takes away; all else adds. What is called twice changes nothing the second time."""
    writing = {tool["name"]: tool["annotations"] for tool in wire(writer) if tool["name"] in WRITING}
    assert {name for name, hints in writing.items() if hints["destructiveHint"]} == DESTRUCTIVE
    for name, hints in writing.items():
        assert (hints["readOnlyHint"], hints["idempotentHint"], hints["openWorldHint"]) == (False, True, False), name


def test_schemas_are_what_every_vendor_takes(agent: Agent, writer: Agent) -> None:
    for tool in (*wire(agent), *wire(writer)):
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            assert schema["type"] == "object", tool["name"]
            assert not schema.keys() & {"anyOf", "oneOf", "allOf", "$ref", "$defs"}, tool["name"]
            assert not {key for key, _ in everything(schema)} & {"$dynamicRef", "$ref", "title"}, tool["name"]
            assert all(isinstance(value, str) for key, value in everything(schema) if key == "type"), tool["name"]
        assert tool["inputSchema"]["additionalProperties"] is False
        for name, argument in tool["inputSchema"]["properties"].items():
            assert argument["description"], f"{tool['name']}: {name}"
            assert "anyOf" not in argument, f"{tool['name']}: {name}"


def test_every_argument_has_one_type_that_every_vendor_knows(writer: Agent) -> None:
    for tool in wire(writer):
        schema = tool["inputSchema"]
        assert set(schema.get("required", ())) <= schema["properties"].keys()
        for name, argument in schema["properties"].items():
            where = f"{tool['name']}: {name}"
            assert argument["type"] in ("string", "integer", "boolean", "array"), where
            assert (argument["type"] == "array") == ("items" in argument), where
            assert not {key for key, _ in everything(argument)} & {"anyOf", "oneOf", "allOf", "not", "const"}, where
            assert all(isinstance(word, str) for word in argument.get("enum", ())), where
            if "default" in argument:
                Draft202012Validator(argument).validate(argument["default"])


def test_prompts_and_addresses_say_what_they_are(agent: Agent) -> None:
    listed = addresses(agent)
    for each in (*listed["resources"], *listed["templates"]):
        assert re.fullmatch(r"[a-z_]{1,48}", each["name"])
        assert each["description"], each["name"]
        assert each["mimeType"] in MIME_TYPES, each["name"]
        assert re.match(r"abistore://[a-z]+(/|$)", each.get("uri") or each["uriTemplate"]), "no name is an authority"
    for prompt in listed["prompts"]:
        assert re.fullmatch(r"[a-z_]{1,48}", prompt["name"])
        assert prompt["description"], prompt["name"]
        assert all(argument["description"] for argument in prompt["arguments"]), prompt["name"]


def everything(schema: Any, *, names: bool = False) -> Iterator[tuple[str, Any]]:
    """Every keyword of a schema; the names of properties are no keywords."""
    if isinstance(schema, list):
        for each in schema:
            yield from everything(each)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if not names:
                yield key, value
            yield from everything(value, names=key == "properties")


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_server_says_its_own_version(era: Era, modern: Agent) -> None:
    async def asked(client: Client) -> Any:
        return client.server_info, client.instructions

    info, instructions = Agent(modern.settings, modern.server.jobs, era).ask(asked)
    assert (info.name, info.version) == ("abistore", __version__)
    assert instructions == INSTRUCTIONS


def test_the_surface_is_what_was_promised(modern: Agent, writer: Agent, request: pytest.FixtureRequest) -> None:
    """A difference is a change of the contract: run with ``--update-cases``, read it, and tell it in the changelog."""
    tools = wire(modern)
    surface = {
        "tools": tools,
        "writing": [tool for tool in wire(writer.set(export_root="/")) if tool not in tools],
        **addresses(modern),
    }
    found = json.dumps(surface, indent=1) + "\n"
    if request.config.getoption("--update-cases"):
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()
