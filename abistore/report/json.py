"""A report as JSON, its published schema, and the way back."""

from __future__ import annotations

from typing import Any

import msgspec

from abistore.report.outline import SCHEMA, Report
from abistore.report.style import Style

_decode = msgspec.json.Decoder(Report).decode


def encode(report: Report) -> bytes:
    """The report as compact JSON in UTF-8."""
    return msgspec.json.encode(report)


def render(report: Report, style: Style) -> str:
    """The report as indented JSON."""
    return msgspec.json.format(encode(report), indent=2).decode()


def read(data: bytes) -> Report | None:
    """The report that :func:`encode` wrote; ``None`` where an abistore with another form of report wrote it."""
    try:
        report = _decode(data)
    except msgspec.MsgspecError:
        return None
    return report if report.schema == SCHEMA else None


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report."""
    (reference,), components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"abistore comparison report, schema {SCHEMA}",
        **reference,
        "$defs": components,
    }
