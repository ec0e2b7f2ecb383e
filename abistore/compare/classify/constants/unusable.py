"""Macros that no source can have used: their text is a syntax error wherever it stands."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""\s+ | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [A-Za-z_]\w* | \.?\d[\w.]*
    | <<=|>>=|<=>|\.\.\.|\#\#|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]= | .""",
    re.VERBOSE | re.DOTALL,
)
_INFIX: Final = frozenset(
    {"|", "^", "/", "%", "==", "!=", "<=", ">=", "||", "<<", "?", "=", "+=", "-=", "|=", "&=", "^="}
)
"""What stands between two operands and nowhere else, in C and C++; ``<``, ``>``, ``*`` and ``&`` are parts of types."""

_PREFIX: Final = frozenset({"+", "-", "!", "~"})
"""What an operand follows."""


def never_compiles(text: str | None) -> bool:
    """Whether a macro's text lacks an operand between its own parentheses: ``(A | B |)``, ``(A | | B)``, ``(| A)``.

    What is open at either end may be completed where the macro stands. Arguments of another macro may be operators.
    """
    tokens = [each for each in _TOKEN.findall(text or "") if not each.isspace()]
    open_after, before = list[bool](), ""
    for token in tokens:
        if _lacks_operand(before, token) and open_after and not any(open_after):
            return True
        if token == "(":
            open_after.append(before[:1].isalpha() or before[:1] == "_")
        elif token == ")" and open_after:
            open_after.pop()
        before = "" if before == "operator" else token
    return False


def _lacks_operand(before: str, token: str) -> bool:
    if token == ")":
        return before in _INFIX or before in _PREFIX
    return token in _INFIX and (before in _INFIX or before in _PREFIX or before == "(")
