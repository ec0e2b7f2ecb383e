"""Results of the service as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from abistore.model.findings import Impact, Verdict
from abistore.model.names import Name
from abistore.model.snapshot import Location, Target


def plain(value: Any) -> Any:
    """``value`` in JSON's own types: names as ``{kind, symbol}``, verdicts by name, times in ISO 8601.

    What is unset is left out.
    """
    match value:
        case Verdict():
            return value.name
        case Impact():
            return value.label
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Name():
            return {"kind": value.kind, "symbol": value.spelling}
        case Target() | Location() | Path():
            return str(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case msgspec.Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            return {name: plain(item) for name, item in fields if item is not msgspec.UNSET}
        case tuple() | list():
            return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


_TEXT = {"type": "string"}
_WRITTEN: dict[str, dict[str, Any]] = {
    "Verdict": {"enum": [verdict.name for verdict in Verdict]},
    "Impact": {"enum": [impact.label for impact in Impact]},
    "Name": {"type": "object", "properties": {"kind": _TEXT, "symbol": _TEXT}, "required": ["kind", "symbol"]},
    "Target": _TEXT,
    "Location": _TEXT,
}
"""What :func:`plain` writes otherwise than msgspec does."""


def plain_schema(title: str, **answer: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a command's answer: its status, and :func:`plain` of one value under each key.

    Every field is required that is not left out where it is unset, so that readers need no defaults.
    """
    references, components = msgspec.json.schema_components(answer.values(), ref_template="#/$defs/{name}")
    rows = {each.__name__: each.__struct_fields__ for each in _rows(msgspec.Struct)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {"status": {"const": "ok"}, **dict(zip(answer, references, strict=True))},
        "required": ["status", *answer],
        "$defs": {
            name: _WRITTEN.get(name) or _complete(each, rows.get(name)) for name, each in sorted(components.items())
        },
    }


def _rows(above: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """The classes that msgspec writes as a row of values, and :func:`plain` with the names of its fields."""
    for each in above.__subclasses__():
        if each.__struct_config__.array_like:
            yield each
        yield from _rows(each)


def _complete(component: dict[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    if fields is not None and "prefixItems" in component:
        return _with_names(component, fields)
    properties = component.get("properties")
    if properties is None:
        return component
    told = {field: _without_default(each) for field, each in properties.items()}
    required = [field for field in properties if field in component["required"] or "default" in properties[field]]
    return {**component, "properties": told, "required": required}


def _with_names(component: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    items = map(_without_default, component["prefixItems"])
    about = {key: component[key] for key in ("title", "description")}
    properties = dict(zip(fields, items, strict=True))
    return {**about, "type": "object", "properties": properties, "required": list(fields)}


def _without_default(field: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in field.items() if key != "default"}
