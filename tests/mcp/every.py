"""One call of every tool, one reading of every resource, one of every prompt: a new one is in it, or a test fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import PromptReference

from abistore.mcp.prompts import TASKS
from abistore.mcp.resources import RESOURCES
from abistore.mcp.tools.all import TOOLS

PLACES = {
    "library": "libgeo",
    "version": "2.0",
    "page": "cli",
    "kind": "func_removed",
    "finding_id": "abc123",
    "digest": "0" * 32,
}
TEXTS = {**PLACES, "new_input": "libgeo@2.0", "from_version": "1.0", "to_version": "2.0"}


def arguments(comparison: str, library: Path) -> dict[str, dict[str, Any]]:
    """The arguments of a call of each tool."""
    return {
        "abi_list": {"library": "libgeo"},
        "abi_summary": {"library": "libgeo"},
        "abi_review_build": {"new_input": str(library), "version": "2.1"},
        "abi_history": {"library": "libgeo", "delta": True},
        "abi_compare": {"old_input": "libgeo@1.0", "new_input": str(library)},
        "abi_findings": {"comparison_id": comparison},
        "abi_finding": {"comparison_id": comparison, "finding_id": "413dac85"},
        "abi_show": {"reference": "libgeo@2.0", "name": "point"},
        "abi_consumers": {"new_input": "libgeo@2.0"},
        "abi_symbol_history": {"symbol": "point"},
        "abi_gate": {"library": "libgeo"},
        "abi_whatif": {"library": "libgeo", "declaration": "struct point { int z, x, y; };"},
        "abi_pr_summary": {"comparison_id": comparison},
        "abi_list_changes": {"impact": "breaking"},
        "abi_explain_change": {"change_kind": "func_removed"},
        "abi_dump": {"library_path": str(library)},
        "abi_help": {},
        "abi_store_stats": {},
    }


async def everything(client: Client, library: Path) -> list[str]:
    """What was asked of a server: all that it offers; calls are answered, readings may find nothing."""
    made = await client.call_tool("abi_compare", {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0", "stat": True})
    assert made.structured_content
    comparison = made.structured_content["comparison_id"]
    given = arguments(comparison, library)
    assert given.keys() == TOOLS.keys()
    for name, each in given.items():
        answered = await client.call_tool(name, each)
        assert not answered.is_error, (name, answered.content)
    read = [await _read(client, resource.uri, comparison) for resource in RESOURCES.values()]
    for name, task in TASKS.items():
        texts = {**TEXTS, "comparison_id": comparison}
        await client.get_prompt(name, {argument: texts[argument] for argument in task.arguments})
    reference = PromptReference(type="ref/prompt", name="review_release")
    for argument in TEXTS:
        await client.complete(reference, {"name": argument, "value": ""}, context_arguments={"library": "libgeo"})
    return [*given, *read, *TASKS]


async def _read(client: Client, uri: str, comparison: str) -> str:
    from mcp import MCPError
    from mcp.shared.uri_template import UriTemplate

    try:
        await client.read_resource(UriTemplate.parse(uri).expand({**PLACES, "comparison_id": comparison}))
    except MCPError as error:
        assert error.code == -32602, (uri, error.message)
    return uri
