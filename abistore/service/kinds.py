"""The kinds of change as data, so that stored verdicts are shown without importing the rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from abistore.report.model import ChangeKind

FILE = Path(__file__).with_name("kinds.json")
"""Written from the rules by ``python docs/generate.py``."""


@cache
def kinds() -> Mapping[str, ChangeKind]:
    """Every kind by its name, in the order of names."""
    return {one.kind: one for one in msgspec.json.decode(FILE.read_bytes(), type=tuple[ChangeKind, ...])}
