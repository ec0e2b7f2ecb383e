"""The package's modules as syntax trees, each parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "abistore"
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "_version.py")
"""All modules but the one that a build writes."""


@cache
def tree_of(path: Path) -> ast.Module:
    """What ``path`` holds."""
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Everything in it."""
    return tuple(ast.walk(tree_of(path)))
