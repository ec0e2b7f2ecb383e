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
    "DECLINED",
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

WRITE = "start the server with --allow-write (ABISTORE_MCP_ALLOW_WRITE=1)"

CODES: dict[str, Code] = {
    "usage": "INVALID_ARGUMENT",
    "input": "INVALID_ARGUMENT",
    "no-library": "INVALID_ARGUMENT",
    "patch": "INVALID_ARGUMENT",
    "bundle": "INVALID_ARGUMENT",
    "baseline-lost": "NOT_FOUND",
    "path-denied": "PATH_DENIED",
    "extract": "EXTRACTION_FAILED",
    "headers": "EXTRACTION_FAILED",
    "limit": "LIMIT",
    "unknown-format": "UNSUPPORTED_FORMAT",
    "snapshot": "EXTRACTION_FAILED",
    "incomparable": "INCOMPARABLE",
    "store": "DB_ERROR",
    "not-found": "NOT_FOUND",
    "ambiguous": "AMBIGUOUS_REF",
    "wrong-target": "NOT_FOUND",
    "wrong-profile": "NOT_FOUND",
    "version-taken": "VERSION_CONFLICT",
    "stale-baseline": "STALE_BASELINE",
    "schema": "SCHEMA_OUTDATED",
    "busy": "DB_BUSY",
    "evidence": "EVIDENCE_MISSING",
    "output": "PATH_DENIED",
    "policy": "INVALID_ARGUMENT",
    "config": "INVALID_ARGUMENT",
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
    return refusal_for(error.code, error.message, error.hint)


def refusal_for(code: str, message: str, hint: str) -> Refusal:
    """The refusal for an error that is told by its stable code."""
    if code == UnknownFormat.code:
        message = f"Cannot detect input format. {FORMATS}"
    return Refusal(CODES.get(code, "INTERNAL"), message, hint)


def write_disabled(what: str, hint: str = WRITE) -> Refusal:
    """The refusal of a server that only reads, or writes no files."""
    return Refusal("WRITE_DISABLED", f"{what}: this server only reads", hint)
