"""What tier a test is of, where it does not say so itself."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent

OTHER_PROGRAMS = re.compile(
    r"\b(clang|lld|llvm-\w+|dsymutil|zig|ziglang|rustc|pahole|abidw|abidiff|abi-dumper|dwz|eu-strip|debuginfod|lintian)\b"
    r"|\b(chromium|groff|npm|ssh-add|ssh-keygen)\b|-linux-gnu|-musl|mingw|^dylib"
    r"|^(autoreconf|cmake|ctest|meson)$"
    r"|^(i[36]86|aarch64|arm|armhf|ppc64le|riscv64|s390x)(-|$)"
)
"""Programs of packages that ``tests/run`` installs for the tiers after the first only, and what these build for."""

ON_A_SERVER = ("cli/test_postgresql.py", "store/test_ingest.py", "store/test_log.py")
"""Modules whose tests ask PostgreSQL in the first tier too; those of others do so in the full tier."""

DRAWING = re.compile(r"^from (tests\.draws|tests\.extract\.damage|hypothesis) import", re.MULTILINE)
"""What a module imports whose tests draw or damage inputs, of which the nightly tier takes more."""


def belongs_to_full_tier(item: pytest.Item) -> bool:
    """Whether a parameter of the test names a program of the other tiers, or a server that few modules ask first."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if any(OTHER_PROGRAMS.search(each if isinstance(each, str) else repr(each)) for each in parameters.values()):
        return True
    return "postgresql" in parameters.values() and item.path.relative_to(ROOT).as_posix() not in ON_A_SERVER


@cache
def draws_inputs(module: Path) -> bool:
    """Whether tests of the module are asked again in the nightly tier, with more inputs."""
    return DRAWING.search(module.read_text()) is not None
