"""A server of ours that has the conformance suite's tools, resources and prompts too: beside ours, by the same way."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import GetPromptResult, InputRequiredResult, Prompt, Resource, ResourceTemplate
from starlette.types import Receive, Scope, Send

from abistore.cli.entry import serve_mcp as launch
from abistore.mcp import http
from abistore.mcp import server as build
from abistore.mcp.calls import Server
from tests.mcp.conformance import asking, contents


class ConformanceServer(Server):
    """Everything of ours, and then what was registered by the SDK's own ways."""

    def __init__(self, *given: Any, **described: Any) -> None:
        super().__init__(*given, **described)
        contents.register(self)
        asking.register(self)

    async def list_resources(self) -> list[Resource]:
        return [*await super().list_resources(), *await MCPServer.list_resources(self)]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        return [*await super().list_resource_templates(), *await MCPServer.list_resource_templates(self)]

    async def read_resource(
        self, uri: Any, context: Any = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        known = {resource.uri for resource in await MCPServer.list_resources(self)}
        if uri in known or str(uri).startswith("test://template/"):
            return await MCPServer.read_resource(self, uri, context)
        return await super().read_resource(uri, context)

    async def list_prompts(self) -> list[Prompt]:
        return [*await super().list_prompts(), *await MCPServer.list_prompts(self)]

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Any = None
    ) -> GetPromptResult | InputRequiredResult:
        if name.startswith("test_"):
            return await MCPServer.get_prompt(self, name, arguments, context)
        return await super().get_prompt(name, arguments, context)


class Opened(http.Application):
    """The application over HTTP, with the token that the suite cannot send."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())]}
        await super().__call__(scope, receive, send)


TOKEN = os.environ.pop("CONFORMANCE_TOKEN", "")

if __name__ == "__main__":
    build.Server = ConformanceServer  # type: ignore[misc,attr-defined]  # what the launcher takes from there
    http.Application = Opened
    launch()
