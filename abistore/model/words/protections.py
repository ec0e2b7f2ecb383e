"""The words for protections and weaknesses of a library file."""

from __future__ import annotations

from typing import Final

FULL_RELRO: Final = "full RELRO"
PARTIAL_RELRO: Final = "partial RELRO"
BIND_NOW: Final = "immediate binding"
STACK_CANARY: Final = "stack canary"
FORTIFY: Final = "FORTIFY"
BRANCHES: Final = frozenset({"IBT", "SHSTK", "BTI", "PAC", "GCS", "ZICFILP", "ZICFISS"})
"""Protections of branches and returns."""

EXECUTABLE_STACK: Final = "executable stack"
TEXT_RELOCATIONS: Final = "text relocations"
WRITABLE_CODE: Final = "a writable executable segment"
