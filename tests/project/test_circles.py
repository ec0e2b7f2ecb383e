"""No module imports, directly or through others, a module that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.project.trees import PACKAGE, ROOT, nodes_of


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path, modules: frozenset[str]) -> Iterator[str]:
    """The modules that a file imports: at its head, in a function, or for the type checker only."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            yield from (name for name in full.values() if name in modules)
            if node.module in modules and any(name not in modules for name in full.values()):
                yield node.module


def imports(folder: Path) -> dict[str, frozenset[str]]:
    """What each module of a folder imports from that folder."""
    files = {name_of(path): path for path in folder.rglob("*.py")}
    return {name: frozenset(imported(path, frozenset(files))) - {name} for name, path in files.items()}


def circular(graph: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The nodes from which a path leads back to them."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            new = graph[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    return frozenset(name for name in graph if name in reached(name))


def test_the_package_has_no_circle_of_imports() -> None:
    """Every module may import the version from the package itself, which knows the interface by its name."""
    assert not circular({name: found - {"abistore"} for name, found in imports(PACKAGE).items()})


def test_a_circle_is_found_through_others_and_what_hangs_on_it_is_none() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "user": {"a"}, "used": set[str](), "d": {"used"}}
    assert circular({name: frozenset(edges) for name, edges in graph.items()}) == {"a", "b", "c"}
