"""Hints: names and texts that are taken for something, each with its example and its worth."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.model import hints

ROOT = Path(__file__).parents[2]
ASKING = {"matches", "any_matches"}


def asked() -> Iterator[str]:
    """The effects that the package asks for."""
    for path in (ROOT / "abistore").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKING:
                yield from (each.value for each in node.args[:1] if isinstance(each, ast.Constant))


def test_each_hint_is_asked_for_and_no_other() -> None:
    assert set(asked()) == hints.hints().keys()


def test_each_hint_has_a_pattern_or_words() -> None:
    assert [effect for effect, hint in hints.hints().items() if bool(hint.pattern) == bool(hint.words)] == []


def test_each_hint_is_proved_or_applies_somewhere_or_says_why_it_stays() -> None:
    assert [effect for effect, hint in hints.hints().items() if not (hint.proof or hint.reason or hint.libraries)] == []


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        ("annotation", "GEO_EXPORT"),
        ("place_of_build", "source dir"),
        ("commit", '"v1.4.0-g6d1880f"'),
        ("end", "max"),
        ("release", "strversion"),
        ("version_namespace", "lts_20230802"),
    ],
)
def test_a_text_that_fits_is_what_the_hint_looks_for(effect: str, text: str) -> None:
    assert hints.matches(effect, text)
    assert hints.any_matches(effect, ["colour", text])
    assert not hints.matches(effect, "colour")


def test_an_effect_without_a_hint_is_an_error() -> None:
    with pytest.raises(KeyError):
        hints.matches("no such effect", "x")
