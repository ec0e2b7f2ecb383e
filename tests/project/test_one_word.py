"""A word means one thing: no two public classes share a name."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.project.trees import PACKAGE, SOURCES, tree_of


def test_each_public_class_has_its_name_alone() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert not {name: files for name, files in found.items() if len(files) > 1}
