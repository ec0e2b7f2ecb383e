"""One spelling for all texts of one value: ``16``, ``0x10`` and ``(1 << 4)``; ``1ULL`` and ``1llu``."""

from __future__ import annotations

from typing import Final

from abistore.model.values.arithmetic import INT, evaluated, literal
from abistore.patterns import pattern

TOKEN: Final = pattern(
    r"""(?P<number>(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*)[uUlLzZ]*(?![\w.']))"""
    r"""|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|\.?\d[\w.']*|<<|>>|[=!<>]=|&&|\|\||\S"""
)
PLAIN: Final = pattern(r"0|[1-9]\d{0,8}")
"""An ``int`` on every machine, in the spelling that such a number has: most constants are one."""

MOST: Final = 256
"""A longer text is compared as it is: the values of constants are short."""


def normal(text: str) -> str | tuple[str, ...]:
    """What a constant is worth; of any other text its words, literals in one spelling."""
    return constant(text) or _words(text)


def constant(text: str) -> str | None:
    """What a text of numbers or strings is worth; ``None`` for any other, and for one that machines see differently."""
    if PLAIN.fullmatch(text):
        return text
    if len(text) > MOST:
        return None
    value = evaluated([match[0] for match in TOKEN.finditer(text)])
    if value is not None:
        return str(value)
    words = _words(text)
    if len(words) == 1 and (words[0][0].isdecimal() or words[0][0] in ".'\""):
        return words[0]
    joined = bool(words) and all(word[0] == '"' and "\\" not in word for word in words)
    return f'"{"".join(word[1:-1] for word in words)}"' if joined else None


def words(text: str) -> frozenset[str]:
    """The names that stand in a text."""
    return frozenset(match[0] for match in TOKEN.finditer(text) if match[0][0].isalpha() or match[0][0] in "_$")


def _words(text: str) -> tuple[str, ...]:
    tokens = [_literal(match["number"]) if match["number"] else match[0] for match in TOKEN.finditer(text)]
    return tuple(_unwrapped(tokens))


def _literal(text: str) -> str:
    found = literal(text)
    if found is None:
        return text
    value, suffix, radix = found
    return f"{value if value < INT or radix == 10 else hex(value)}{suffix}"


def _unwrapped(tokens: list[str]) -> list[str]:
    """The tokens without parentheses around all of them."""
    while len(tokens) > 2 and tokens[0] == "(" and tokens[-1] == ")" and _encloses(tokens):
        tokens = tokens[1:-1]
    return tokens


def _encloses(tokens: list[str]) -> bool:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if not depth:
            return place == len(tokens) - 1
    return False
