"""Long lists in pages: each says how to get the next one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from abistore.mcp.answers.units import fitting
from abistore.mcp.refusals import Refusal

T = TypeVar("T")
_CURSOR = re.compile(r"([0-9a-f]{8})([0-9a-f]+)")


class Page(NamedTuple, Generic[T]):
    """Some items of a list, and the cursor that asks for those after them; ``None`` where there are no more."""

    items: tuple[T, ...]
    next_cursor: str | None


def page(items: Sequence[T], cursor: str | None, limit: int, *, question: str, budget: int) -> Page[T]:
    """At most ``limit`` items after ``cursor``, and no more than fit into ``budget`` units.

    ``question`` is a digest of what was asked: the cursor of another question is refused.
    """
    start = _start(cursor, question)
    shown = tuple(fitting(items[start : start + limit], budget))
    end = start + len(shown)
    return Page(shown, f"{question}{end:x}" if end < len(items) else None)


def _start(cursor: str | None, question: str) -> int:
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None or match[1] != question:
        message = "the cursor is not one of this question" if match else "cursor is malformed"
        raise Refusal("INVALID_ARGUMENT", message, "repeat the other arguments, or leave cursor out to start again")
    return int(match[2], 16)
