"""What mangled names begin with is known to one folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.project.trees import PACKAGE, ROOT, SOURCES, nodes_of

KNOWING = PACKAGE / "model" / "names"


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, with their lines."""
    docstrings = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_only_the_folder_about_mangling_spells_mangled_prefixes() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if KNOWING not in path.parents
        for line, text in literals(path)
        if "_Z" in text and "_ZLIB" not in text
    ]
    assert found == []
