"""Sizes and names that keep the code readable."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "abistore").rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 5


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_file_is_short_and_begins_with_a_sentence(path: Path) -> None:
    text = path.read_text()
    title = ast.get_docstring(ast.parse(text)) or ""
    assert title.splitlines()[0].rstrip().endswith("."), "the first docstring line is one sentence"
    assert len(text.splitlines()) <= LONGEST_FILE
    assert path.stem not in VAGUE


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_functions_fit_a_screen_and_take_few_positional_parameters(path: Path) -> None:
    long, wide = [], []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION:
                long.append(node.name)
            positional = [argument.arg for argument in node.args.posonlyargs + node.args.args]
            if len([name for name in positional if name not in {"self", "cls"}]) > MOST_PARAMETERS:
                wide.append(node.name)
    assert not long
    assert not wide
