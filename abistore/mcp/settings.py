"""What the server is started with: the database, and the bounds of a call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from abistore.confinement import canonical
from abistore.errors import UsageError
from abistore.model.labels.blanks import check_not_blank

LogFormat: TypeAlias = Literal["text", "json"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
Approvals: TypeAlias = Literal["human", "auto"]

READ, WRITE = SCOPES = ("abistore:read", "abistore:write")
"""What a token may be for."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one server. Raises :class:`UsageError` for a bound that is not positive.

    ``timeout`` is in seconds and ends the work of a call, ``max_file_size`` in bytes for each file read, ``max_memory``
    in bytes for each process that works on a call. ``max_concurrency`` calls are worked on at once, others wait.
    ``max_response_units`` bounds every answer, in units of 4 bytes. ``history_limit`` comparisons of files are kept.
    Files are read below ``read_roots`` only; ``None`` leaves that to the permissions of whoever started the server.

    ``allow_write`` adds the tools that write. ``approvals`` is who decides what is hard to take back: a ``human``, who
    is asked through the client, or nobody (``auto``, for pipelines). Dumps are written below ``export_root`` only.
    """

    database: str | None = None
    timeout: float = 120.0
    max_file_size: int = 524_288_000
    max_memory: int = 4 << 30
    max_concurrency: int = 4
    max_response_units: int = 8_000
    history_limit: int = 16
    log_format: LogFormat = "text"
    log_level: LogLevel = "warning"
    read_roots: tuple[str, ...] | None = None
    allow_write: bool = False
    approvals: Approvals = "human"
    export_root: str | None = None

    def __post_init__(self) -> None:
        """No bound is switched off by a zero."""
        for name in BOUNDS:
            if not getattr(self, name) > 0:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} {getattr(self, name)}: is not positive", f"leave {option} out, or raise it")


BOUNDS = ("timeout", "max_file_size", "max_memory", "max_concurrency", "max_response_units", "history_limit")
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
        raise UsageError(f"--read-root {given}: is no folder that can be read", "name a folder that exists") from error


def absolute(database: str | None) -> str | None:
    """The database, wherever processes that use it stand: a path in full, or the URL."""
    given = os.environ.get("ABISTORE_DB") if database is None else database
    check_not_blank("the database", given)
    return given if not given or "://" in given else str(Path(given).absolute())
