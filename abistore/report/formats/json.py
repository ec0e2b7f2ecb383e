"""A report as JSON, and its published schema."""

from __future__ import annotations

from typing import Any

import msgspec

from abistore.model.words import json_text
from abistore.report.model import SCHEMA, Report, ReportFormat, Style


def encode(report: Report) -> bytes:
    """The report as compact JSON in UTF-8."""
    return msgspec.json.encode(report)


def render(report: Report, style: Style) -> str:
    """The report as indented JSON."""
    return msgspec.json.format(encode(report), indent=2).decode()


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report."""
    (reference,), components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"abistore report, schema {SCHEMA}",
        **reference,
        "$defs": components,
    }


FORMAT = ReportFormat(render, suffix=".json", escape=json_text, is_complete=True)
