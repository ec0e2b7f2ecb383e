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

CODE_SIGNATURE: Final = "code signature"
HARDENED_RUNTIME: Final = "hardened runtime"
LIBRARY_VALIDATION: Final = "library validation"
NO_HEAP_EXECUTION: Final = "no heap execution"
POSITION_INDEPENDENT: Final = "position-independent"
ON_MACOS: Final = frozenset(
    {CODE_SIGNATURE, HARDENED_RUNTIME, LIBRARY_VALIDATION, NO_HEAP_EXECUTION, POSITION_INDEPENDENT}
)
"""What a Mach-O file and its signature ask the system for."""

ASLR: Final = "ASLR"
HIGH_ENTROPY: Final = "high-entropy ASLR"
DEP: Final = "DEP"
CFG: Final = "CFG"
SAFE_SEH: Final = "SafeSEH"
FORCED_INTEGRITY: Final = "forced integrity"
SHADOW_STACK: Final = "CET shadow stack"
ON_WINDOWS: Final = frozenset({ASLR, HIGH_ENTROPY, DEP, CFG, SAFE_SEH, FORCED_INTEGRITY, SHADOW_STACK})
"""What the headers of a PE file ask Windows for."""
