"""The texts of resources: the JSON of the command line, and no more of it than a client can take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abistore.mcp.answers.units import as_text
from abistore.mcp.refusals import Refusal
from abistore.report.plain import plain

MOST_BYTES = 1 << 20


def document(value: Mapping[str, Any]) -> str:
    """What the command prints with ``--json``, in one line."""
    return short(as_text({"status": "ok", **plain(value)}))


def short(text: str) -> str:
    """A text that is not too long. Raises :class:`Refusal`."""
    size = len(text.encode())
    if size > MOST_BYTES:
        hint = "abi_findings and abi_history tell it in pages; the command line writes it to a file"
        raise Refusal("LIMIT", f"the resource has {size:,} bytes, and {MOST_BYTES:,} are sent at most", hint)
    return text
