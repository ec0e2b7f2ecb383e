"""Why a call is refused: a stable code, what is wrong, and what to do."""

from __future__ import annotations

from typing import Literal, TypeAlias

from abistore.errors import AbistoreError, UnknownFormat

Code: TypeAlias = Literal[
    "NOT_FOUND",
    "AMBIGUOUS_REF",
    "INVALID_ARGUMENT",
    "UNKNOWN_KIND",
    "UNKNOWN_POLICY",
    "UNSUPPORTED_FORMAT",
    "FILE_TOO_LARGE",
    "LIMIT",
    "TIMEOUT",
    "PATH_DENIED",
    "WRITE_DISABLED",
    "VERSION_CONFLICT",
    "STALE_BASELINE",
    "INCOMPARABLE",
    "EVIDENCE_MISSING",
    "EXTRACTION_FAILED",
    "DB_BUSY",
    "DB_ERROR",
    "SCHEMA_OUTDATED",
    "INTERNAL",
]
"""All codes, which clients may match on."""

FORMATS = "Expected: ELF (.so), PE (.dll), Mach-O (.dylib), JSON snapshot, or ABICC Perl dump."

CODES: dict[str, Code] = {
    "usage": "INVALID_ARGUMENT",
    "input": "INVALID_ARGUMENT",
    "extract": "EXTRACTION_FAILED",
    "limit": "LIMIT",
    "unknown-format": "UNSUPPORTED_FORMAT",
    "snapshot": "EXTRACTION_FAILED",
    "incomparable": "INCOMPARABLE",
    "store": "DB_ERROR",
    "not-found": "NOT_FOUND",
    "version-taken": "VERSION_CONFLICT",
    "schema": "SCHEMA_OUTDATED",
    "busy": "DB_BUSY",
    "evidence": "EVIDENCE_MISSING",
    "output": "PATH_DENIED",
    "policy": "INVALID_ARGUMENT",
    "internal": "INTERNAL",
}
"""The codes of :mod:`abistore.errors` as clients of MCP know them."""


class Refusal(Exception):
    """An expected failure of a call."""

    def __init__(self, code: Code, message: str, hint: str = "") -> None:
        self.code: Code = code
        self.message = message
        self.hint = hint
        super().__init__(message)


def refusal_of(error: AbistoreError) -> Refusal:
    """An error of a verb as the refusal of a call."""
    if isinstance(error, UnknownFormat):
        return Refusal("UNSUPPORTED_FORMAT", f"Cannot detect input format. {FORMATS}", error.hint)
    return Refusal(CODES.get(error.code, "INTERNAL"), error.message, error.hint)
