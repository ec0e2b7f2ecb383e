"""The published schema of release statements, and a strict reading of it that refuses what it does not name."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from abistore.cli.reference import schema

PUBLISHED = json.loads(schema("statement"))


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Every object has the fields that the schema names, and no other."""
    below = {name: {**each, "additionalProperties": False} for name, each in schema["$defs"].items() if _has(each)}
    return {**schema, "additionalProperties": False, "$defs": {**schema["$defs"], **below}}


def _has(definition: dict[str, Any]) -> bool:
    return "properties" in definition


STATEMENTS = jsonschema.Draft202012Validator(_closed(PUBLISHED))
