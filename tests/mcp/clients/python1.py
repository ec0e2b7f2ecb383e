"""The session of the tests, by the client of the Python SDK 1.x: what it was told, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult, PromptReference


@asynccontextmanager
async def streams(way: dict[str, Any]) -> AsyncIterator[tuple[Any, Any]]:
    """Both directions of a connection."""
    if "url" in way:
        async with streamablehttp_client(way["url"], headers=way["headers"]) as (read, write, _):
            yield read, write
    else:
        command, *words = way["command"]
        async with stdio_client(StdioServerParameters(command=command, args=words)) as (read, write):
            yield read, write


async def talk(way: dict[str, Any]) -> dict[str, Any]:
    """Everything that was told."""
    progress: list[str] = []

    async def advance(done: float, total: float | None, message: str | None) -> None:
        progress.append(message or "")

    asked: list[str] = []

    async def decline(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    async with streams(way) as (read, write), ClientSession(read, write, elicitation_callback=decline) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        listed = await session.call_tool("abi_list", {"library": "libgeo"})
        compared = await session.call_tool("abi_compare", way["compared"], progress_callback=advance)
        resource = (await session.read_resource("abistore://libraries")).contents[0]
        prompt = await session.get_prompt("review_release", {"library": "libgeo", "version": "2.0"})
        reference = PromptReference(type="ref/prompt", name="review_release")
        words = await session.complete(reference, {"name": "library", "value": "lib"})
        refused = await session.call_tool("abi_list", {"library": "libgoe"})
        declined = await session.call_tool("abi_delete", way["deleted"])
        try:
            await session.call_tool("abi_lst", {})
            unknown = 0
        except McpError as error:
            unknown = error.error.code
        return {
            "server": [hello.serverInfo.name, hello.serverInfo.version],
            "era": hello.protocolVersion,
            "tools": [tool.name for tool in tools],
            "listed": listed.structuredContent,
            "compared": compared.structuredContent,
            "progress": progress,
            "resource": [resource.mimeType, resource.text],
            "prompt": prompt.messages[0].content.text,
            "completed": words.completion.values,
            "refused": [refused.isError, refused.content[0].text],
            "asked": asked,
            "declined": [declined.isError, declined.content[0].text],
            "unknown": unknown,
        }


print(json.dumps(asyncio.run(talk(json.loads(sys.argv[1])))))
