"""The tier of a test that does not say so itself: what needs programs that the first tier does without."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent

OTHER_PROGRAMS = re.compile(
    r"\b(clang|lld|llvm-\w+|dsymutil|zig|ziglang|rustc|pahole|abidw|abidiff|abi-dumper|dwz|eu-strip|debuginfod)\b"
    r"|\b(chromium|groff|mount|npm|node)\b|-linux-gnu|mingw"
)
"""Programs of packages that ``tests/run`` installs for the tiers after the first only."""

ON_A_SERVER = ("cli/test_postgresql.py", "store/test_ingest.py", "store/test_log.py", "store/test_pruning.py")
"""Modules whose tests ask PostgreSQL in the first tier too; those of others do so in the full tier."""


def belongs_to_full_tier(item: pytest.Item) -> bool:
    """Whether a parameter of the test names a program of the other tiers, or a server that few modules ask first."""
    callspec: object = getattr(item, "callspec", None)
    values = list(getattr(callspec, "params", {}).values())
    if OTHER_PROGRAMS.search(repr(values)):
        return True
    return "postgresql" in values and item.path.relative_to(ROOT).as_posix() not in ON_A_SERVER
