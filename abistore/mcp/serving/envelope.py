"""Errors as clients get them: one JSON object, without folders of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import ValidationError

from abistore.mcp.answers.units import as_text
from abistore.mcp.refusals import Refusal
from abistore.model.words.nearness import did_you_mean, near

LONGEST = 1_000
"""How many characters of a message or hint are sent."""

_FOLDERS = re.compile(r"(?<![\w:/.@~-])~?/(?:[^\s/:'\",;()]+/)+(?=[^\s/])")
"""The folders before a file's name; neither an address's nor ``operator/``."""


def failed(refusal: Refusal, paths: Sequence[str]) -> CallToolResult:
    """The error that a refused call is answered with. It has no structured content: clients would check its type.

    ``paths`` are those that the message may quote.
    """
    document = {
        "status": "error",
        "error": _shown(refusal.message, paths),
        "code": refusal.code,
        "hint": _shown(refusal.hint, paths),
    }
    return CallToolResult(content=[TextContent(type="text", text=as_text(document))], is_error=True)


def _shown(text: str, paths: Sequence[str]) -> str:
    return without_folders(text, paths)[:LONGEST]


def without_folders(text: str, known: Sequence[str]) -> str:
    """``text`` with base names where it had paths; ``known`` ones may have spaces."""
    for path in sorted(known, key=len, reverse=True):
        text = text.replace(path, path.rstrip("/").rpartition("/")[2])
    return _FOLDERS.sub("", text)


def paths(value: Any) -> list[str]:
    """Every absolute path among some values."""
    if isinstance(value, str):
        return [value] if value.startswith("/") and len(value) > 1 else []
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [path for each in inner for path in paths(each)]


def invalid(error: ValidationError, known: list[str]) -> Refusal:
    """Why arguments do not fit a tool, in our own words; ``known`` are the arguments that it has."""
    told = [_problem(each) for each in error.errors(include_url=False, include_context=False)]
    unknown = [str(each["loc"][0]) for each in error.errors() if each["type"] == "extra_forbidden" and each["loc"]]
    if unknown:
        hint = did_you_mean(near(unknown[0], known), f"its arguments are {', '.join(sorted(known))}")
    elif any(each["type"] == "string_type" and isinstance(each["input"], int | float) for each in error.errors()):
        hint = 'give versions and references as strings, e.g. "2.10": as a number, 2.10 becomes 2.1'
    else:
        hint = "tools/list tells the type of each argument"
    return Refusal("INVALID_ARGUMENT", "; ".join(told), hint)


def _problem(error: Any) -> str:
    where = ".".join(map(str, error["loc"])) or "arguments"
    what = "unknown argument" if error["type"] == "extra_forbidden" else error["msg"]
    return f"{where}: {what[0].lower()}{what[1:]}"
