"""The verbs of abistore: the one place that joins extracting, storing, comparing and reporting.

Who asks for them is said here, since every command line says it, and few use a store.
"""

from __future__ import annotations

from contextvars import ContextVar

ASKER: ContextVar[str] = ContextVar("ASKER", default="")
"""Who or what asks now, for the verdicts that are given: ``ana (mcp: claude-code)``."""

PROGRAM: ContextVar[str] = ContextVar("PROGRAM", default="python")
"""What runs now, where nobody said who asks: ``abistore history``."""


def asked_by(who: str) -> None:
    """Say who or what asks for the verdicts that are given from now on: ``ana (mcp: claude-code)``."""
    ASKER.set(who)
