"""What every answer begins with, and how its texts are kept short."""

from __future__ import annotations

import msgspec

LONG = 300
"""How many characters a text in an answer has; names have thousands."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status", tag="ok"):
    """The answer of a tool: ``headline`` says the whole of it in one line.

    Answers end with ``warnings`` and ``next``: what to know about this one, and what to ask now.
    """

    headline: str


def brief(text: str, most: int = LONG) -> str:
    """A text without its middle, where it is too long."""
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]}...{text[len(text) - half :]}"


def asking(tool: str, **arguments: object) -> str:
    """A call to make next, as ``abi_findings(comparison_id='1f3c9a02', impact='breaking')``."""
    told = {name: brief(value) if isinstance(value, str) else value for name, value in arguments.items()}
    given = ", ".join(f"{name}={value!r}" for name, value in told.items() if value is not None)
    return f"{tool}({given})"
