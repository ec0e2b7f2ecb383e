"""Laws of the normal form: it is its own normal form, and what tools spell differently has the same one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.model.names.qualified import normal_name
from abistore.model.names.spelling import spell
from tests.laws.strategies import declarable_types

pytestmark = pytest.mark.fast

WORDS = [
    "const",
    "volatile",
    "unsigned",
    "long",
    "int",
    "char",
    "geo::P",
    "x",
    "std::",
    "nullptr",
    "decltype",
    "struct",
]
MARKS = ["<", ">", ">>", ",", "(", ")", "*", "&", "&&", "::", "[", "]", "{", "}", "-", "~", " ", "=", "\\", "...", "$"]
WHOLES = [
    "10ul",
    "'a'",
    "operator",
    "lambda",
    "#1",
    "(anonymous namespace)",
    "{anonymous}",
    "[abi:cxx11]",
    "noexcept",
    "é",
]
PIECES = st.sampled_from([*WORDS, *MARKS, *WHOLES])


@given(st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20))
def test_the_normal_form_of_any_text_is_its_own_normal_form(text):
    assert normal_name(normal_name(text)) == normal_name(text)


@given(declarable_types)
def test_a_spelled_type_is_in_normal_form(reference):
    assert normal_name(spell(reference)) == spell(reference)


@dataclass(frozen=True)
class Manner:
    """How one tool writes: on which side of a word qualifiers go, what it calls integers, where it leaves spaces."""

    east: bool
    words: dict[str, str]
    before_pointer: str
    close: str
    suffix: str


GCC = Manner(True, {"unsigned long": "long unsigned int", "short": "short int", "long": "long int"}, "", " >", "")
CLANG = Manner(False, {"unsigned long": "unsigned long"}, " ", " >", "UL")
LIBCLANG = Manner(False, {"unsigned int": "unsigned int", "bool": "_Bool"}, " ", ">", "")
DEMANGLER = Manner(True, {}, "", " >", "ul")


@st.composite
def written(draw: st.DrawFn, depth: int = 3) -> dict[str, str]:
    """One type as each of the tools writes it."""
    manners = {"gcc": GCC, "clang": CLANG, "libclang": LIBCLANG, "demangler": DEMANGLER}
    kind = draw(st.sampled_from(["word", "pointer", "template", "value", "function"] if depth else ["word"]))
    if kind == "word":
        word = draw(
            st.sampled_from(["int", "unsigned long", "short", "long", "unsigned int", "bool", "geo::P", "char"])
        )
        qualifier = draw(st.sampled_from(["", "const", "volatile"]))
        return {
            tool: " ".join(filter(None, [spelled, qualifier] if manner.east else [qualifier, spelled]))
            for tool, manner in manners.items()
            for spelled in [manner.words.get(word, word)]
        }
    inner = draw(written(depth=depth - 1))
    if kind == "pointer":
        mark = draw(st.sampled_from(["*", "&", "&&", "* const"]))
        return {
            tool: f"{text}{'' if text[-1] in '*&' else manners[tool].before_pointer}{mark}"
            for tool, text in inner.items()
        }
    if kind == "value":
        number = draw(st.integers(0, 99))
        return {
            tool: f"std::array<{text}, {number}{manners[tool].suffix}{manners[tool].close}"
            for tool, text in inner.items()
        }
    if kind == "function":
        return {tool: f"void{'' if tool == 'gcc' else ' '}({text})" for tool, text in inner.items()}
    other = draw(written(depth=depth - 1))
    return {tool: f"geo::Map<{text}, {other[tool]}{manners[tool].close}" for tool, text in inner.items()}


@given(written())
def test_what_tools_write_differently_has_one_normal_form(spellings):
    assert len({normal_name(text) for text in spellings.values()}) == 1


@given(declarable_types, declarable_types)
def test_different_types_have_different_normal_forms(one, other):
    assert (spell(one) == spell(other)) == (one == other)
