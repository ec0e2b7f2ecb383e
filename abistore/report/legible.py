"""A report whose texts have a length that people read; in JSON they are whole."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from abistore.model.characters import LONGEST, bounded

MOST = 4_000
"""How many lines a text has at most."""

Value = TypeVar("Value")


def legible(value: Value) -> Value:
    """``value``, a report or any part of one, without the middle of what is too long in it, wherever it stands."""
    found: Any = value
    match value:
        case str() if len(value) > LONGEST:
            found = bounded(_of_some_lines(value))
        case tuple() if value and isinstance(value[0], str):
            found = value if max(map(len, value)) <= LONGEST else tuple(map(legible, value))
        case tuple():
            parts = tuple(map(legible, value))
            found = parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
        case msgspec.Struct():
            found = _struct(value)
    return cast(Value, found)


def _struct(value: msgspec.Struct) -> msgspec.Struct:
    fields = ((field, getattr(value, field)) for field in value.__struct_fields__)
    changed = {field: new for field, old in fields if (new := legible(old)) is not old}
    return msgspec.structs.replace(value, **changed) if changed else value


def _of_some_lines(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= MOST:
        return text
    half = MOST // 2
    return "\n".join((*lines[:half], f"... ({len(lines) - MOST:,} more lines)", *lines[-half:]))
