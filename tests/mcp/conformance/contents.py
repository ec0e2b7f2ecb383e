"""Tools, resources and prompts of every type of content, as the conformance suite names and reads them."""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.mcpserver.tools import Tool
from mcp.types import AudioContent, CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from abistore.mcp.settings import Refusal

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
SILENCE = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\0\0\0\0"
IMAGE = ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mime_type="image/png")
NESTED_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "description": "Sent as a header too", "x-mcp-header": "Region"}},
    "required": ["region"],
}


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def embedded(uri: str, said: str, mime: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, text=said, mime_type=mime))


def answered(*content: Any) -> CallToolResult:
    return CallToolResult(content=list(content))


async def test_simple_text() -> CallToolResult:
    """Text."""
    return answered(text("This is a simple text response for testing."))


async def test_image_content() -> CallToolResult:
    """An image."""
    return answered(IMAGE)


async def test_audio_content() -> CallToolResult:
    """Sound."""
    return answered(AudioContent(type="audio", data=base64.b64encode(SILENCE).decode(), mime_type="audio/wav"))


async def test_embedded_resource() -> CallToolResult:
    """A resource within an answer."""
    return answered(embedded("test://embedded-resource", "This is an embedded resource content."))


async def test_multiple_content_types() -> CallToolResult:
    """Several types in one answer."""
    data = embedded("test://mixed-content-resource", json.dumps({"test": "data", "value": 123}), "application/json")
    return answered(text("Multiple content types test:"), IMAGE, data)


async def test_error_handling() -> CallToolResult:
    """Nothing but an error."""
    raise Refusal("INTERNAL", "This tool intentionally returns an error for testing")


async def test_tool_with_progress(context: Context) -> CallToolResult:
    """Progress in three steps."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"{done} of 100")
        await anyio.sleep(0.02)
    return answered(text("done"))


async def test_logging_tool() -> CallToolResult:
    """No log, as no client asked for one."""
    return answered(text("nothing was logged"))


async def json_schema_2020_12_tool(name: str = "") -> CallToolResult:
    """Tool with JSON Schema 2020-12 features"""
    return answered(text(name))


async def test_headers(region: str) -> CallToolResult:
    """An argument that is sent as a header too."""
    return answered(text(region))


async def test_trigger_tool_change(context: Context) -> CallToolResult:
    """The list of tools changes."""
    await context.notify_tools_changed()
    return answered(text("changed"))


async def test_trigger_prompt_change(context: Context) -> CallToolResult:
    """The list of prompts changes."""
    await context.notify_prompts_changed()
    return answered(text("changed"))


def test_simple_prompt() -> list[UserMessage]:
    """A message."""
    return [UserMessage("This is a simple prompt for testing.")]


def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """A message with both arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """A resource, and what to do with it."""
    resource = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    """An image, and what to do with it."""
    return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """An image."""
    return PIXEL


def data_of(id: str) -> str:
    """The data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_logging_tool,
    test_trigger_tool_change,
    test_trigger_prompt_change,
)
PROMPTS = (
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
)


def register(server: MCPServer[Any]) -> None:
    """Adds all of them to a server."""
    for tool in TOOLS:
        server.add_tool(tool)
    for function, schema in ((json_schema_2020_12_tool, NESTED_SCHEMA), (test_headers, HEADER_SCHEMA)):
        server.add_tool(function)
        _tool(server, function.__name__).parameters = schema
    for prompt in PROMPTS:
        server.prompt()(prompt)
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://watched-resource", name="watched", mime_type="text/plain")(static_text)
    server.resource("test://template/{id}/data", mime_type="application/json")(data_of)


def _tool(server: MCPServer[Any], name: str) -> Tool:
    found = server._tool_manager.get_tool(name)
    assert found is not None
    return found
