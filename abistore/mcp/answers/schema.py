"""The JSON schemas of answers, from the types that are encoded."""

from __future__ import annotations

from typing import Any

import msgspec


def output_schema(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of an answer, in one piece, without titles and descriptions."""
    (reference,), components = msgspec.json.schema_components([answer], ref_template="#/$defs/{name}")
    schema: dict[str, Any] = _without_words(_inlined(reference, components))
    return schema


EVERYWHERE = frozenset({"status", "headline"})
"""What all answers begin with, of which the server's instructions tell."""


def shallow(schema: dict[str, Any]) -> dict[str, Any]:
    """The same as ``tools/list`` tells it, which has to be short: the members that are always there, by JSON type."""
    own = [name for name in schema["properties"] if name in schema["required"] and name not in EVERYWHERE]
    return {"type": "object", "properties": {name: _type(schema["properties"][name]) for name in own}}


def _type(member: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in member:
        return {"type": [_type(choice)["type"] for choice in member["anyOf"]]}
    return {"type": member.get("type", "string")}  # only enumerations of strings have no type


def _inlined(schema: Any, components: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        return _inlined(components[reference.rpartition("/")[2]], components)
    return {name: _inlined(each, components) for name, each in schema.items()}


def _without_words(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("anyOf"):
        return _joined([_without_words(each) for each in schema["anyOf"]])
    found = {}
    for name, value in schema.items():
        if name == "properties":
            found[name] = {each: _without_words(inner) for each, inner in value.items()}
        elif name not in {"title", "description", "default"}:
            found[name] = _without_words(value)
    return found


def _joined(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """``[{"type": "integer"}, {"type": "null"}]`` as ``{"type": ["integer", "null"]}``, where that says the same."""
    types = [choice.get("type") for choice in choices]
    if len(choices) == 2 and types[1] == "null" and isinstance(types[0], str) and "enum" not in choices[0]:
        return {**choices[0], "type": [types[0], "null"]}
    return {"anyOf": choices}
