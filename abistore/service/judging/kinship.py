"""Whether both sides of a comparison seem to be the same library, by their names."""

from __future__ import annotations

import re

from abistore.model.findings import Side
from abistore.report.model import Report

VERSION = r"(?<=[^\d.\-_])[-_.]?\d+([-_.]\d+)*$"
"""A version behind a name: ``libpng12`` and ``libpng16`` are one library, and ``libglib-1.2`` and ``libglib-2.0``."""


def strangers(report: Report) -> str:
    """The warning that the sides seem to be different libraries; empty if they may be the same.

    A file without a SONAME and without a version has only its file name, which tells nothing.
    """
    old, new = report.old, report.new
    if not (_is_named(old) and _is_named(new)) or _names(old) & _names(new):
        return ""
    return f"by their names these are two different libraries, {_name(old)} and {_name(new)}"


def _is_named(side: Side) -> bool:
    return side.soname is not None or side.version is not None


def _name(side: Side) -> str:
    return side.soname or side.library


def _names(side: Side) -> set[str]:
    """The library's name and the SONAME's, without versions."""
    return {re.sub(VERSION, "", name.partition(".so")[0]) for name in (side.library, _name(side))}
