"""Patterns mean what regular expressions mean, and no pattern or text makes them slow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.diffing.policy import Expression, glob
from abistore.errors import PolicyError

atoms = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "[a-b]", r"\w", r"\.", "^", "$"])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}"])),
    ),
    max_leaves=8,
)


@given(patterns, st.text("abc.", max_size=8))
def test_an_expression_matches_what_a_backtracking_engine_matches(pattern: str, text: str) -> None:
    theirs = pattern.replace("$", r"\Z")
    assert Expression(pattern).matches(text) == (re.fullmatch(theirs, text) is not None)
    assert Expression(pattern, whole=False).matches(text) == (re.search(theirs, text) is not None)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a+)+b", "(.*a){20}b", "a?a?a?a?a?a?a?a?aaaaaaaab"])
def test_patterns_that_ruin_backtracking_engines_end(pattern: str) -> None:
    assert not Expression(pattern).matches("a" * 20_000)
    assert not Expression(pattern, whole=False).matches("a" * 20_000)


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("(", "missing )"),
        (")", "unexpected )"),
        ("[a", "missing ]"),
        ("[z-a]", "character class range"),
        ("*a", "no argument for repetition"),
        ("a**", "bad repetition"),
        ("a{2,1}", "invalid repetition size"),
        ("((a{255}){255}){255}", "invalid repetition size"),
        ("(?=a)", "(?="),
        (r"(a)\1", r"\1"),
        ("a\\", "trailing"),
        ("", "empty"),
        ("a" * 1001, "longer than 1000"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_fault(pattern: str, fault: str) -> None:
    with pytest.raises(PolicyError) as refused:
        Expression(pattern)
    assert fault in refused.value.message


@pytest.mark.parametrize("text", ["a\nb", "a\ud800b", "a\u00e4b"])
def test_a_dot_is_any_character_even_one_that_is_no_text(text: str) -> None:
    assert Expression("a.b").matches(text)


@given(st.text("ab()[]{}|*+?\\^$.-,:0123456789", max_size=12))
def test_any_text_is_an_expression_or_a_policy_error(pattern: str) -> None:
    try:
        Expression(pattern).matches("ab01")
    except PolicyError as error:
        assert error.message


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("*.h", "a.h", True),
        ("*.h", "src/a.h", False),
        ("src/**/*.h", "src/a.h", True),
        ("src/**/*.h", "src/b/c/a.h", True),
        ("src/**/*.h", "lib/a.h", False),
        ("a?c.h", "abc.h", True),
        ("a?c.h", "a/c.h", False),
        ("a+b(1).h", "a+b(1).h", True),
    ],
)
def test_a_glob_stops_at_slashes_unless_it_is_doubled(pattern: str, text: str, matches: bool) -> None:
    assert glob(pattern, "/").matches(text) is matches


@given(st.text(max_size=20).filter(lambda text: not {"*", "?"} & set(text) and text != ""))
def test_a_glob_without_stars_matches_itself_alone(text: str) -> None:
    assert glob(text, "/").matches(text)
    assert not glob(text, "/").matches(text + "x")
