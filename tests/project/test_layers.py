"""Imports go one way, from the top to the bottom of what ``docs/lab/architecture.md`` draws."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.trees import PACKAGE, SOURCES, nodes_of

BELOW: dict[str, set[str]] = {
    "patterns": set(),
    "urls": set(),
    "process": set(),
    "installing": set(),
    "whole_files": set(),
    "errors": {"urls"},
    "limits": {"errors"},
    "confinement": {"errors"},
    "model": {"urls", "errors"},
    "extract": {"urls", "process", "errors", "limits", "confinement", "model"},
    "store": {"urls", "errors", "installing", "limits", "model"},
    "compare": {"urls", "errors", "confinement", "model"},
    "report": {"urls", "errors", "limits", "model"},
    "service": {
        *("urls", "process", "whole_files", "errors", "limits", "confinement"),
        *("model", "extract", "store", "compare", "report"),
    },
    "interface": {"errors", "model", "report", "service"},
    "mcp": {"urls", "process", "errors", "installing", "limits", "confinement", "model", "report", "interface"},
    "cli": {
        "urls",
        "whole_files",
        "errors",
        "installing",
        "limits",
        "confinement",
        "model",
        "report",
        "service",
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


ROOMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "compare": (
        ("reuse", "differing"),
        ("scopes",),
        ("types",),
        ("consumers",),
        ("side",),
        ("version_pairs",),
        ("context",),
        ("differences",),
        ("rule",),
        ("retyping",),
        ("diff",),
        ("classify",),
        ("rules",),
        ("following",),
        ("policies",),
        ("judge", "established"),
        ("comparison", "releases"),
        ("whatif", "replacing"),
    ),
    "mcp": (
        ("settings", "refusals", "questions"),
        ("answers",),
        ("call",),
        ("operands", "lines", "handles", "exports"),
        ("tools",),
        ("resources", "prompts"),
        ("completions", "watching"),
        ("jobs",),
        ("serving",),
        ("server",),
        ("transports",),
        ("setup",),
    ),
    "store": (
        ("database",),
        ("releases",),
        ("snapshots",),
        ("history",),
        ("consumers",),
        ("bundles", "pruning"),
        ("upgrade",),
        ("opening",),
        ("checking", "maintenance"),
        ("store",),
    ),
}
"""The rooms of a layer, folders and single modules, from the lowest to the highest; those of one line are strangers."""


def room_imports(layer_name: str) -> Iterator[tuple[str, str, str]]:
    """What each module outside a room takes from it: its room, the other room, and both as people look for them."""
    folder = PACKAGE / layer_name
    for path in sorted(folder.rglob("*.py")):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        for module in imported(path):
            parts = module.split(".")
            if parts[:2] == ["abistore", layer_name] and len(parts) > 2 and parts[2] != own:
                yield own, parts[2], f"{path.relative_to(PACKAGE)} imports {module}"


@pytest.mark.parametrize("layer_name", sorted(ROOMS))
def test_a_room_imports_only_from_the_rooms_below_it(layer_name: str) -> None:
    floor = {room: number for number, rooms in enumerate(ROOMS[layer_name]) for room in rooms}
    wrong = [said for own, other, said in room_imports(layer_name) if floor[own] <= floor[other]]
    assert wrong == []


@pytest.mark.parametrize("layer_name", sorted(ROOMS))
def test_every_room_has_its_place_in_the_order(layer_name: str) -> None:
    folder = PACKAGE / layer_name
    rooms = {path.stem for path in folder.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    assert rooms - {"__init__"} == {room for rooms in ROOMS[layer_name] for room in rooms}


def test_every_folder_of_the_package_is_a_known_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name not in {"__pycache__"}}
    assert folders <= set(BELOW) | {"migrations"}
