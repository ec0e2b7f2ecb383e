"""A word of the model means one thing everywhere."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "abistore"


def classes() -> dict[str, list[str]]:
    """Where each public class stands, by its name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(PACKAGE).as_posix())
    return found


def test_no_other_class_has_the_name_of_one_of_the_model() -> None:
    shared = {name: files for name, files in classes().items() if len(files) > 1}
    assert not {
        name: files for name, files in shared.items() if any(Path(file).parent.name == "model" for file in files)
    }
