"""Imports go one way, from the top to the bottom of what ``docs/lab/architecture.md`` draws."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.project.trees import PACKAGE, SOURCES, nodes_of

BELOW: dict[str, set[str]] = {
    "patterns": set(),
    "urls": set(),
    "process": set(),
    "installing": set(),
    "arguments": set(),
    "errors": {"urls"},
    "limits": {"errors"},
    "files": {"errors"},
    "model": {"urls", "errors"},
    "extract": {"urls", "process", "errors", "limits", "files", "model"},
    "store": {"urls", "errors", "installing", "limits", "model"},
    "diffing": {"urls", "errors", "files", "model"},
    "report": {"urls", "errors", "limits", "model"},
    "witness": {"errors", "model", "extract", "report"},
    "service": {
        *("urls", "process", "errors", "installing", "limits", "files"),
        *("model", "extract", "store", "diffing", "report", "witness"),
    },
    "archive": {"errors", "extract", "files", "installing", "model", "service", "store"},
    "interface": {"errors", "model", "report", "service", "archive"},
    "mcp": {"arguments", "urls", "process", "errors", "installing", "limits", "files", "model", "report", "interface"},
    "cli": {
        "arguments",
        "urls",
        "errors",
        "installing",
        "limits",
        "files",
        "model",
        "report",
        "service",
        "archive",
        "mcp",
    },
}
"""What each layer may import besides itself and the package's version."""

MODULES = [path for path in SOURCES if path.parent != PACKAGE or path.stem in BELOW]


def layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imported(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "abistore":
                yield from (f"abistore.{alias.name}" for alias in node.names)


def upward(path: Path) -> set[str]:
    """What a module imports and should not."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = BELOW[own] | {own, "", "__version__", "patterns"}
    return {each for each in imported(path) if each.split(".")[0] == "abistore" and layer(each) not in allowed}


def test_a_module_imports_only_from_the_layers_below_it() -> None:
    assert {path: wrong for path in MODULES if (wrong := upward(path))} == {}


def test_every_folder_of_the_package_is_a_known_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name not in {"__pycache__"}}
    assert folders <= set(BELOW) | {"migrations"}
