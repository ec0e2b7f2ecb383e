"""Shortening texts that are too long to read. JSON has them whole."""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_not
from typing import Any, TypeVar, cast

import msgspec

from abistore.model.words.characters import LONGEST, bounded

MOST = 4_000
"""How many lines a text has at most."""

Value = TypeVar("Value")


def legible(value: Value) -> Value:
    """A report, or a part of one, in which the middle of every text that is too long is left out."""
    found: Any = value
    if isinstance(value, str):
        found = value if len(value) <= LONGEST else bounded(_of_some_lines(value))
    elif isinstance(value, tuple) and value and isinstance(value[0], str) and max(map(len, value)) <= LONGEST:
        pass
    elif isinstance(value, tuple):
        parts = tuple(map(legible, value))
        found = parts if any(map(is_not, parts, value)) else value
    elif isinstance(value, msgspec.Struct):
        changed = dict(_changed(value))
        found = msgspec.structs.replace(value, **changed) if changed else value
    return cast(Value, found)


def _changed(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """The fields that are shortened. Most texts are short, and only their length is looked at."""
    for field, old in zip(value.__struct_fields__, msgspec.structs.astuple(value), strict=True):
        if not old or (type(old) is str and len(old) <= LONGEST):
            continue
        if (new := legible(old)) is not old:
            yield field, new


def _of_some_lines(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= MOST:
        return text
    half = MOST // 2
    return "\n".join((*lines[:half], f"... ({len(lines) - MOST:,} more lines)", *lines[-half:]))
