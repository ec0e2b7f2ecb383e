"""The normal form of spelled C and C++ names and built-in types: one spelling for what tools spell differently.

The rules, and why, are in ``docs/lab/decisions/0001-normal-form-of-names.md``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from abistore.model.cpp_names.builtins import PLAIN_BUILTINS, builtin
from abistore.model.shapes import VOID, Array, Primitive, Qualified, TypeRef
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.model.cpp_names.grammar import ValueOf

MAX_LENGTH: Final = 1 << 16
"""Longer names are kept as they are: no compiler writes them, and parsing stays bounded."""

_WORD = r"[A-Za-z_]\w*\b"
_PLAIN: Final = pattern(rf"{_WORD}(?:::~?{_WORD})*", re.ASCII)
_PLAIN_TEMPLATE: Final = pattern(
    rf"{_WORD}(?:::{_WORD})*<(?:{_WORD}|(?<=\w)::(?=\w)|(?<=>)::(?=\w)|(?<=\w)<|(?<=[\w>])>| >|(?<=[\w>]), "
    r"|(?<=[<\s])-?(?:0|[1-9]\d*)(?=[,>\s]))*(?<=>)",
    re.ASCII,
)
_WORDS: Final = frozenset(
    (
        "operator", "nullptr", "auto", "unsigned", "signed", "_Bool", "_Complex", "__complex__", "complex", "_Atomic",
        "const", "volatile", "restrict", "__restrict", "__restrict__", "__const", "__volatile__", "class", "enum",
        "struct", "typename", "union", "void", "lambda", "unnamed", "anonymous", "decltype", "int", "_BitInt",
    )
)  # fmt: skip
_SPECIAL_WORD: Final = pattern(rf"\b(?:_GLOBAL__N_\w*|{'|'.join(sorted(_WORDS))})\b")

_RISKY: Final = pattern(
    r"(?:^|[^\w>)}\]])::|::\s|_Complex|complex|nullptr|_Atomic|\*::"
    r"|(?:class|enum|struct|typename|union)\s*::"
)
"""Where text that only resembles a name may not settle at once; such text is kept as it is."""


def normal_name(text: str, value_of: ValueOf | None = None) -> str:
    """The normal form of a qualified name or built-in type as a compiler, debug information or demangler spells it.

    ``value_of`` gives what other compilers write for a template argument that only a declaration explains, in normal
    form: ``(geo::Color)0`` for the enumerator ``geo::Red``.
    Text that is no name comes back with its white space squeezed; the function never fails.
    """
    return _normal(text) if value_of is None else _parsed(text, value_of)


@lru_cache(1 << 16)
def _normal(text: str) -> str:
    if len(text) > MAX_LENGTH:  # a regular expression keeps a hundred bytes for each word
        return _parsed(text)
    words = text.split(" ")
    if PLAIN_BUILTINS.issuperset(words):
        return builtin(words)
    if text.isidentifier() and text.isascii() and text not in _WORDS and not text.startswith("_GLOBAL__N_"):
        return text
    if _PLAIN.fullmatch(text) and not _SPECIAL_WORD.search(text):
        return text
    if _PLAIN_TEMPLATE.fullmatch(text) and not _SPECIAL_WORD.search(text) and text.count("<") == text.count(">"):
        return text.replace(" >", ">")
    return _parsed(text)


def _parsed(text: str, value_of: ValueOf | None = None) -> str:
    squeezed = " ".join(text.split())
    if len(text) > MAX_LENGTH:
        return squeezed
    from abistore.model.cpp_names.cursor import NotAName  # C has plain names only
    from abistore.model.cpp_names.grammar import Parser
    from abistore.model.cpp_names.tokens import tokens

    try:
        found = Parser(tokens(text), value_of).whole()
        if _RISKY.search(text) and Parser(tokens(found), value_of).whole() != found:
            return squeezed
    except NotAName:
        return squeezed
    return found


@lru_cache(1 << 10)
def primitive(text: str, size: int) -> Primitive:
    """The built-in type that ``text`` spells, ``size`` bytes long."""
    spelling = normal_name(text)
    return VOID if spelling == "void" else Primitive(spelling, size)


def qualified(target: TypeRef, qualifiers: tuple[str, ...]) -> TypeRef:
    """``target`` with ``qualifiers`` added: joined with those it has, and moved to the element of an array."""
    if not qualifiers:
        return target
    match target:
        case Qualified():
            return Qualified(target.target, tuple(sorted({*target.qualifiers, *qualifiers})))
        case Array(vector=False):
            return Array(qualified(target.element, qualifiers), target.count)
    return Qualified(target, tuple(sorted(set(qualifiers))))
