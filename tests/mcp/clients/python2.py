"""The session of the tests, by the client of the Python SDK 2.x: what it was told, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, PromptReference


def server(way: dict[str, Any]) -> Any:
    """Where the server is."""
    if "url" in way:
        return streamable_http_client(way["url"], http_client=httpx2.AsyncClient(headers=way["headers"]))
    command, *words = way["command"]
    return StdioServerParameters(command=command, args=words)


async def talk(way: dict[str, Any]) -> dict[str, Any]:
    """Everything that was told."""
    progress: list[str] = []

    async def advance(done: float, total: float | None, message: str | None) -> None:
        progress.append(message or "")

    asked: list[str] = []

    async def decline(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    async with Client(server(way), elicitation_callback=decline) as client:
        tools = (await client.list_tools()).tools
        listed = await client.call_tool("abi_list", {"library": "libgeo"})
        compared = await client.call_tool("abi_compare", way["compared"], progress_callback=advance)
        resource = (await client.read_resource("abistore://libraries")).contents[0]
        prompt = await client.get_prompt("review_release", {"library": "libgeo", "version": "2.0"})
        reference = PromptReference(type="ref/prompt", name="review_release")
        words = await client.complete(reference, {"name": "library", "value": "lib"})
        refused = await client.call_tool("abi_list", {"library": "libgoe"})
        declined = await client.call_tool("abi_delete", way["deleted"])
        try:
            await client.call_tool("abi_lst", {})
            unknown = 0
        except MCPError as error:
            unknown = error.code
        return {
            "server": [client.server_info.name, client.server_info.version],
            "era": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "listed": listed.structured_content,
            "compared": compared.structured_content,
            "progress": progress,
            "resource": [resource.mime_type, resource.text],
            "prompt": prompt.messages[0].content.text,
            "completed": words.completion.values,
            "refused": [refused.is_error, refused.content[0].text],
            "asked": asked,
            "declined": [declined.is_error, declined.content[0].text],
            "unknown": unknown,
        }


print(json.dumps(asyncio.run(talk(json.loads(sys.argv[1])))))
