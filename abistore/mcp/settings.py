"""The settings of a server, and refusals of calls with a stable code each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from abistore.errors import AbistoreError, UnknownFormat, UsageError
from abistore.files import canonical
from abistore.model.labels import check_not_blank

LogFormat: TypeAlias = Literal["text", "json"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
Approvals: TypeAlias = Literal["human", "auto"]

READ, WRITE = SCOPES = ("abistore:read", "abistore:write")
"""What a token may be for."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one server. Raises :class:`UsageError` for a bound that is not positive.

    ``timeout`` is in seconds and ends the work of a call, ``max_file_size`` in bytes for each file read, ``max_memory``
    in bytes for each process that works on a call. ``max_concurrency`` calls are worked on at once, and one that is
    quick; others wait for ``max_wait`` seconds at most.
    ``max_response_units`` bounds what is sent of every answer, in units of 4 bytes. ``history_limit`` comparisons of
    files are kept. Files are read below ``read_roots`` only; ``None`` leaves that to the permissions of whoever started
    the server.

    ``allow_write`` adds the tools that write. ``approvals`` is who decides what is hard to take back: a ``human``, who
    is asked through the client, or nobody (``auto``, for pipelines). Dumps are written below ``export_root`` only.
    ``allow_witness`` adds the tool that starts compilers. ``toolsets`` and ``tools`` are names with commas between, of
    what is served beside ``abi_help``; both empty: all.
    """

    database: str | None = None
    timeout: float = 120.0
    max_file_size: int = 524_288_000
    max_memory: int = 4 << 30
    max_concurrency: int = 4
    max_wait: float = 60.0
    max_response_units: int = 400_000
    history_limit: int = 16
    log_format: LogFormat = "text"
    log_level: LogLevel = "warning"
    read_roots: tuple[str, ...] | None = None
    allow_write: bool = False
    allow_witness: bool = False
    approvals: Approvals = "human"
    export_root: str | None = None
    toolsets: str = ""
    tools: str = ""

    def __post_init__(self) -> None:
        """No bound is switched off by a zero."""
        for name in BOUNDS:
            if not getattr(self, name) > 0:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} {getattr(self, name)}: is not positive", f"leave {option} out, or raise it")


BOUNDS = (
    "timeout",
    "max_file_size",
    "max_memory",
    "max_concurrency",
    "max_wait",
    "max_response_units",
    "history_limit",
)
"""The settings that are numbers, all of them positive."""


def variable(name: str) -> str:
    """The environment variable of a setting: ``ABISTORE_MCP_TIMEOUT``."""
    return f"ABISTORE_MCP_{name.upper()}"


def folders(given: Sequence[str | Path]) -> tuple[str, ...]:
    """The folders of ``--read-root``, as paths are compared with them. Raises :class:`UsageError`."""
    return tuple(sorted({_folder(each) for each in given}))


def _folder(given: str | Path) -> str:
    try:
        return canonical(given)
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"--read-root {given}: not a readable folder", "name a folder that exists") from error


def absolute(database: str | None) -> str | None:
    """The database, wherever processes that use it stand: a path in full, or the URL."""
    given = os.environ.get("ABISTORE_DB") if database is None else database
    check_not_blank("the database", given)
    return given if not given or "://" in given else str(Path(given).absolute())


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
    "BUSY",
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

WRITE_REFUSED = "start the server with --allow-write (ABISTORE_MCP_ALLOW_WRITE=1)"

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
    "surface-differs": "STALE_BASELINE",
    "schema": "SCHEMA_OUTDATED",
    "busy": "DB_BUSY",
    "evidence": "EVIDENCE_MISSING",
    "output": "PATH_DENIED",
    "policy": "INVALID_ARGUMENT",
    "rule-bound": "INVALID_ARGUMENT",
    "rule-conflict": "INVALID_ARGUMENT",
    "config": "INVALID_ARGUMENT",
    "internal": "INTERNAL",
    # of commands that sign, verify, ingest archives and notify, which no tool runs
    "extra-missing": "INVALID_ARGUMENT",
    "signing-key": "INVALID_ARGUMENT",
    "signers": "INVALID_ARGUMENT",
    **dict.fromkeys(
        (
            "not-verified",
            "malformed-statement",
            "wrong-signature",
            "untrusted-key",
            "expired-key",
            "revoked-key",
            "wrong-file",
            "unsigned",
            "stale-statement",
            "audit-rewritten",
        ),
        "EVIDENCE_MISSING",
    ),
    "scheduler": "INTERNAL",
    "undelivered": "INTERNAL",
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


def write_disabled(what: str, hint: str = WRITE_REFUSED) -> Refusal:
    """The refusal of a server that only reads, or writes no files."""
    return Refusal("WRITE_DISABLED", f"{what}: this server only reads", hint)
