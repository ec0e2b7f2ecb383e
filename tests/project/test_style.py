"""Sizes and names that keep the code readable."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.project.trees import ROOT, SOURCES, nodes_of, tree_of

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}
LONGEST_FILE = 700
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 5


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Each function of the package, with its place."""
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}", node


def begins_with_a_sentence(path: Path) -> bool:
    lines = (ast.get_docstring(tree_of(path)) or "").splitlines()
    return bool(lines) and lines[0].rstrip().endswith(".")


def test_a_module_begins_with_one_sentence() -> None:
    assert [path for path in SOURCES if not begins_with_a_sentence(path)] == []


def test_a_module_is_short_and_its_name_says_what_it_holds() -> None:
    assert [path for path in SOURCES if len(path.read_text().splitlines()) > LONGEST_FILE] == []
    assert [path for path in SOURCES if path.stem in VAGUE] == []


def bound(path: Path) -> Iterator[str]:
    """The names that a module gives to something, outside of conditions."""
    for node in tree_of(path).body:
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name) if not node.decorator_list:
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(name)):
                yield name


def test_a_module_names_a_thing_once() -> None:
    counts = {path.relative_to(ROOT): Counter(bound(path)) for path in SOURCES}
    assert {
        path: twice for path, found in counts.items() if (twice := [one for one, n in found.items() if n > 1])
    } == {}


def test_the_same_words_have_one_order() -> None:
    """``typing`` takes two of the same words for one type, so that the first to be imported gives schemas its order."""
    orders: dict[frozenset[str], set[tuple[str, ...]]] = defaultdict(set)
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
                words = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                spelled = tuple(map(ast.unparse, words))
                orders[frozenset(spelled)].add(spelled)
    assert [found for found in orders.values() if len(found) > 1] == []


def test_functions_fit_a_screen() -> None:
    long = [place for place, one in functions() if (one.end_lineno or one.lineno) - one.lineno >= LONGEST_FUNCTION]
    assert long == []


def test_functions_take_few_positional_parameters() -> None:
    wide = []
    for place, one in functions():
        names = {argument.arg for argument in one.args.posonlyargs + one.args.args} - {"self", "cls"}
        if len(names) > MOST_PARAMETERS:
            wide.append(place)
    assert wide == []
