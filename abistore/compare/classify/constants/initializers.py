"""Macros that give the members of an object their first values: ``#define LOCK_INIT {17, 0}``."""

from __future__ import annotations

from abistore.compare.side import SideFacts
from abistore.model.snapshot import INITIALIZERS, HeadersRead


def is_initializer(value: str | None) -> bool:
    """Whether the text of a constant is a list of first values, perhaps with its type: ``(struct lock){17, 0}``."""
    return value is not None and value.endswith("}")


def is_unread(value: str | None, side: SideFacts) -> bool:
    """Whether a constant is such a list, and the headers of a side were read when these were passed over."""
    read = side.snapshot.provenance.headers
    return is_initializer(value) and isinstance(read, HeadersRead) and INITIALIZERS not in read.facts
