"""The audit log: one line a call, on standard error, with base names only."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from abistore.mcp.settings import LogFormat
from abistore.model.words.characters import in_line

Status: TypeAlias = Literal["ok", "asked", "timeout", "error", "cancelled"]

NAMES = {"old_input": "old", "new_input": "new"}
"""Arguments that the line calls otherwise."""

UNSAID = frozenset({"note", "reason", "cursor"})
"""Arguments whose text is nobody's business but the store's."""

LONGEST = 120
MOST = 40
"""How many arguments, and items of one, are told."""


class AuditedCall(NamedTuple):
    """What is told of a call."""

    tool: str
    arguments: Mapping[str, Any]
    seconds: float
    status: Status
    verdict: str = ""
    bytes_out: int = 0
    client: str = ""
    request: str = ""
    subject: str = ""


class Audit:
    """Writes calls to standard error, which no transport uses."""

    def __init__(self, format: LogFormat) -> None:
        self._format = format
        self._logger = logging.getLogger("abistore.mcp")
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        for handler in list(self._logger.handlers):
            self._logger.removeHandler(handler)
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._logger.addHandler(handler)

    def write(self, call: AuditedCall) -> None:
        """One line about a call."""
        self._logger.info(_as_json(call) if self._format == "json" else _as_text(call))

    def warn(self, text: str) -> None:
        """One line about the server itself."""
        said = in_line(text, 400)
        self._logger.warning(
            json.dumps({"warning": said}) if self._format == "json" else f"WARNING: abistore.mcp: {said}"
        )

    def trace(self, error: BaseException | None) -> None:
        """The traceback of a bug; clients are told its class only."""
        self._logger.error("internal error", exc_info=error)


def _as_text(call: AuditedCall) -> str:
    inputs = "".join(f" {in_line(name, LONGEST)}={_word(value)}" for name, value in _inputs(call.arguments).items())
    verdict = f" verdict={call.verdict}" if call.verdict else ""
    subject = f" subject={_word(call.subject)}" if call.subject else ""
    head = f"INFO: abistore.mcp: tool={in_line(call.tool, LONGEST)}"
    return f"{head}{inputs} duration={call.seconds:.3f}s status={call.status}{verdict}{subject}"


def _as_json(call: AuditedCall) -> str:
    document: dict[str, Any] = {
        "tool": call.tool[:LONGEST],
        "inputs": _inputs(call.arguments),
        "duration_s": round(call.seconds, 3),
        "status": call.status,
        "verdict": call.verdict or None,
        "client": call.client[:LONGEST] or None,
        "request_id": call.request[:LONGEST] or None,
        "subject": call.subject or None,
        "bytes_out": call.bytes_out,
    }
    return json.dumps(document)


def _inputs(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        NAMES.get(name, name)[:LONGEST]: _without_folders(value)
        for name, value in islice(arguments.items(), MOST)
        if name not in UNSAID and value is not None
    }


def _without_folders(value: Any) -> Any:
    if isinstance(value, str):
        return value.rstrip("/").rpartition("/")[2][:LONGEST]
    if isinstance(value, list | tuple):
        return [_without_folders(each) for each in value[:MOST]]
    if isinstance(value, Mapping):
        return [str(name)[:LONGEST] for name in sorted(value, key=str)[:MOST]]
    if isinstance(value, int) and value.bit_length() > 64:
        return "(a number that is too large)"
    return value


def _word(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    text = in_line(text, LONGEST)
    return json.dumps(text) if " " in text else text
