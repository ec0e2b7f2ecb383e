"""Tools as the SDK serves them: arguments from a function's signature, answers of the type that it gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.types import CallToolResult, ToolAnnotations

from abistore.mcp.answers.schema import output_schema, shallow
from abistore.mcp.serving.deciding import Find, agreed, declare_parameters, resolved
from abistore.mcp.tools.declaration import Tool

Serve = Callable[..., Any]


def served(tool: Tool, serve: Serve, find: Find | None = None) -> ServedTool:
    """A tool as the SDK knows it: ``serve(context, question, **arguments)`` is called with arguments that fit.

    Arguments that it does not have are refused. Where there is ``find``, it makes the question that a person decides
    first.
    """

    async def call(context: Context[Any, Any], **arguments: Any) -> CallToolResult:
        result: CallToolResult = await serve(context, agreed(arguments), **arguments)
        return result

    if find is None:
        return _unasked(tool).model_copy(update={"fn": call})
    parameters = _parameters(tool)
    return _described(tool, call, [*parameters, *resolved(find, parameters)])


@cache
def _unasked(tool: Tool) -> ServedTool:
    """A tool that nobody decides about first, made once: servers of one process serve copies that call their own."""

    async def call(**arguments: Any) -> CallToolResult:
        raise AssertionError(f"{tool.name} is called by a server's copy of it")

    return _described(tool, call, _parameters(tool))


def _parameters(tool: Tool) -> list[Parameter]:
    return [each.replace(kind=Parameter.KEYWORD_ONLY) for each in tool.parameters()]


def _described(tool: Tool, call: Callable[..., Any], parameters: list[Parameter]) -> ServedTool:
    """A tool with the schemas that clients are told."""
    own = Parameter("context", Parameter.KEYWORD_ONLY, annotation=Context)
    declare_parameters(call, [own, *parameters])
    found = ServedTool.from_function(
        call,
        name=tool.name,
        description=tool.description,
        annotations=_annotations(tool),
        structured_output=False,
    )
    model = found.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    found.parameters = lean(model.model_json_schema())
    # published, and not checked again by the SDK: msgspec has written the answer of this very type
    found.fn_metadata.output_schema = shallow(output_schema(tool.answer_type()))
    return found


def _annotations(tool: Tool) -> ToolAnnotations:
    """All four hints. Every tool gives the same answer to the same call, and none reaches beyond this machine."""
    return ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=tool.destroys,
        idempotent_hint=True,
        open_world_hint=False,
    )


def lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of arguments without titles and least values; what may be left out is not said by ``null`` too."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    schema["properties"] = {name: _argument(value) for name, value in schema.get("properties", {}).items()}
    return schema


def _argument(schema: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in schema.items() if name not in {"title", "anyOf", "minimum"}}
    if found.get("default", ...) in (None, False):
        del found["default"]
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    # several vendors refuse unions: the first choice is told, and the others are accepted all the same
    return {**choices[0], **found} if choices else found
