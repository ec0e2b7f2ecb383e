"""What people read is written in the words of the trade: ``words.toml`` lists the wordings that are not."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest

from abistore.service.kinds import FILE as KINDS
from tests.project.trees import PACKAGE, ROOT, SOURCES, nodes_of

WORDS = Path(__file__).with_name("words.toml")
TEMPLATES = sorted((PACKAGE / "report" / "templates").rglob("*.html"))
LAB = ROOT / "docs" / "lab"
PAGES = [
    *(ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))),
    *(page for page in sorted((ROOT / "docs").glob("*/*.md")) if page.parent != LAB),
]
FEWEST = 3
"""A string of fewer words is a name, a key or a part of a phrase."""


class Word(msgspec.Struct, frozen=True):
    """A wording that the trade does not use, the better one, and an example of it."""

    pattern: str
    better: str
    wrong: str

    @property
    def expression(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE | re.MULTILINE)


@cache
def words() -> tuple[Word, ...]:
    return tuple(msgspec.convert(each, Word) for each in tomllib.loads(WORDS.read_text())["word"])


def faults(text: str) -> list[str]:
    """The wordings in ``text`` that the trade does not use, each with the better one."""
    return [f"{found[0]!r}: say {word.better}" for word in words() if (found := word.expression.search(text))]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The literals of a module that may reach people, without what f-strings compute; docstrings are not among them."""
    parts: set[ast.AST] = set()
    for node in nodes_of(path):
        match node:
            case ast.Expr(ast.Constant() as docstring):
                parts.add(docstring)
            case ast.keyword("comment", text):  # of tables and columns: stored schemas have them
                parts.add(text)
            case ast.JoinedStr(values):
                parts.update(values)
                yield (
                    node.lineno,
                    "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in values),
                )
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.lineno, node.value


def test_each_wording_has_an_example_that_it_finds() -> None:
    assert [word.wrong for word in words() if not word.expression.search(word.wrong)] == []


def test_a_sentence_of_the_trade_has_no_fault() -> None:
    assert faults("1.2.0 breaks 1.1.0 in 1 place under the same SONAME: release it as 2.0.0 and bump the SONAME") == []


def test_messages_and_help_are_in_the_words_of_the_trade() -> None:
    said = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in SOURCES
        for line, text in strings(path)
        if len(text.split()) >= FEWEST
        for fault in faults(text)
    ]
    assert said == []


def test_kinds_of_change_are_explained_in_the_words_of_the_trade() -> None:
    said = [
        f"{one['kind']}: {fault}"
        for one in msgspec.json.decode(KINDS.read_bytes())
        for part in ("title", "why", "fix")
        for fault in faults(one[part])
    ]
    assert said == []


def test_a_kind_of_change_is_explained_in_short_sentences() -> None:
    most = 25
    long = [
        f"{one['kind']}: {sentence}"
        for one in msgspec.json.decode(KINDS.read_bytes())
        for sentence in (one["title"], *re.split(r"(?<=[.:;]) +", one["why"]))
        if len(sentence.split()) > most
    ]
    assert long == []


@pytest.mark.parametrize("path", [*TEMPLATES, *PAGES], ids=lambda path: path.name)
def test_a_page_is_in_the_words_of_the_trade(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert [f"{number}: {fault}" for number, text in enumerate(lines, 1) for fault in faults(text)] == []
