"""A report as JSON."""

from __future__ import annotations

import msgspec

from abistore.model.words import json_text
from abistore.report.model import Report, ReportFormat, Style


def encode(report: Report) -> bytes:
    """The report as compact JSON in UTF-8."""
    return msgspec.json.encode(report)


def render(report: Report, style: Style) -> str:
    """The report as indented JSON."""
    return msgspec.json.format(encode(report), indent=2).decode()


FORMAT = ReportFormat(render, suffix=".json", escape=json_text, is_complete=True)
