"""How long an answer is: in units of four bytes of UTF-8, which is about what a model counts as a token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from abistore.model.words.characters import json_text

BYTES = 4
T = TypeVar("T")


def units(data: bytes) -> int:
    """The units of encoded text, rounded up."""
    return -(-len(data) // BYTES)


def fitting(items: Iterable[T], budget: int) -> Iterator[T]:
    """The items that fit into ``budget`` units together, from the first on; one always does."""
    used = 0
    for number, item in enumerate(items):
        used += len(encoded(item)) + 1
        if number and used > budget * BYTES:
            return
        yield item


def as_text(value: Any) -> str:
    """A value as compact JSON for clients. What is not seen is escaped: names and labels are made by others."""
    return json_text(encoded(value).decode())


def encoded(value: Any) -> bytes:
    """A value as compact JSON: the same value gives the same bytes."""
    return msgspec.json.encode(value)
