"""The words and marks of a spelled C or C++ name."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.patterns import pattern

TokenKind: TypeAlias = Literal["word", "number", "character", "string", "operator", "unnamed", "tag", "mark"]


class Token(msgspec.Struct, frozen=True):
    """One token; ``text`` is already normal for ``operator``, ``unnamed`` and ``tag``."""

    kind: TokenKind
    text: str


END: Final = Token("mark", "")

ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"

# What is looked for up to its end is looked for so far only: names may begin it in many places, and end it nowhere.
_PATTERN: Final = r"""
      (?P<space> \s+ )
    | (?P<namespace> \(anonymous\ namespace\) | \{anonymous\} | <anonymous> | <unnamed> | `anonymous[ -]namespace'
                   | _GLOBAL__N_ [\w$.]* )
    | (?P<closure> \(lambda\ at\ [^\n]{0,4096}?:\d+:\d+\) )
    | (?P<nameless> \( (?:anonymous|unnamed) (?:\ (?:struct|class|union|enum|type))?
                       (?:\ at\ [^\n]{0,4096}?:\d+:\d+)? \)
                  | < (?:anonymous|unnamed)\ (?:struct|class|union|enum|type) > | \{unnamed\} )
    | (?P<numbered> \{unnamed\ type\#(?P<ordinal>\d+)\} | \{unnamed\#(?P<again>\d+)\} | 'unnamed(?P<count>\d*)' )
    | (?P<character> (?:u8|[uUL])? ' (?:\\.|[^'\\]){1,64} ' )
    | (?P<string> (?:u8|[uUL])? " (?:\\.|[^"\\]){0,256} " )
    | (?P<tag> (?:\[(?:abi:|clone)[^][]*\])+ )
    | (?P<number> \d [\w.]* )
    | (?P<word> [^\W\d][\w$]* | \$[\w$]* )
    | (?P<mark> :: | && | \.\.\. | . )
    """

_OPERATOR: Final = r"""
    \s* (?: (?P<symbol> \(\s*\) | \[\s*\] | ->\*? | <=> | <<= | >>= | && | \|\| | \+\+ | -- | [-+*/%^&|=!<>]=
                          | << | >> | [-+*/%^&|~!=<>,] )
              | (?P<memory> (?:new|delete)\b (?:\s*\[\s*\])? | co_await\b )
              | "" \s* (?P<literal> [\w$]+ ) )"""


_UNUSUAL: Final = pattern(r"""['"`{\[$]|operator|_GLOBAL__N_|anonymous|unnamed|lambda""")
"""What stands in every text with other tokens than words, numbers and marks."""
_PLAIN: Final = pattern(r"[^\W\d]\w*|\d[\w.]*|::|&&|\.\.\.|\S")


def tokens(text: str) -> list[Token]:
    """``text`` cut into tokens, without white space."""
    if _UNUSUAL.search(text) is None:
        return [*map(_plain_token, _PLAIN.findall(text))]
    found: list[Token] = []
    pattern, operator = _compiled()
    position = 0
    while position < len(text):
        match = pattern.match(text, position)
        assert match is not None  # the last alternative takes any character
        position = match.end()
        if match["word"] == "operator" and (symbol := operator.match(text, position)):
            spelling, position = _operator(text, symbol)
            found.append(Token("operator", f"operator{spelling}"))
        elif match.lastgroup != "space":
            found.append(_token(match))
    return found


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of tokens and of operators: C needs none of both."""
    return re.compile(_PATTERN, re.VERBOSE | re.DOTALL), re.compile(_OPERATOR, re.VERBOSE)


@lru_cache(1 << 10)
def _plain_token(text: str) -> Token:
    if text[0].isdecimal():
        return Token("number", text)
    return Token("word" if text[0].isalnum() or text[0] == "_" else "mark", text)


def _token(match: re.Match[str]) -> Token:
    match match.lastgroup:
        case "word" | "mark" | "number" | "character" | "string" | "tag" as kind:
            return Token(kind, match[0])
        case "namespace":
            return Token("unnamed", ANONYMOUS_NAMESPACE)
        case "closure":
            return Token("unnamed", "{lambda}")
        case "nameless":
            return Token("unnamed", "{unnamed}")
        case "numbered" | "ordinal" | "again" | "count":
            count = match["count"]
            ordinal = match["ordinal"] or match["again"] or (str(int(count) + 2) if count else "1")
            return Token("unnamed", f"{{unnamed#{ordinal}}}")
    raise AssertionError(match.lastgroup)


def _operator(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The normal spelling after ``operator`` and where it ends."""
    if match["literal"]:
        return f'""{match["literal"]}', match.end()
    if match["memory"]:
        words = re.sub(r"\s+", "", match["memory"])
        return f" {words}", match.end()
    symbol = re.sub(r"\s+", "", match["symbol"])
    end = match.end()
    if symbol == "<<" and re.match(r"\s*[^\s<(),>\[]", text[end : end + 80]):
        return (
            "<",
            end - 1,
        )  # `operator<<int>` is operator< with arguments; `operator<<` never has a name right after it
    return symbol, end


# --- literals -----------------------------------------------------------------------------------------------------

_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0}


def number(text: str) -> str:
    """An integer literal in decimal and without a suffix; any other number as it is."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]*", text, re.ASCII)
    if match is None:
        return text
    digits = match[1]
    if len(digits) > 100:
        return text
    return str(int(digits, 16 if digits[:2] in ("0x", "0X") else 10))


def character(text: str) -> str:
    """A character literal as the number it stands for (a plain ``char`` as 0 to 255); any other quotation as it is."""
    prefix, _, quoted = text.partition("'")
    value = _code(quoted[:-1])
    if value is None:
        return text
    return str(value if prefix in ("u", "U", "L") else value & 0xFF)


def _code(body: str) -> int | None:
    if len(body) == 1:
        return ord(body)
    if not body.startswith("\\"):
        return None
    kind, digits = body[1:2], body[2:]
    if re.fullmatch(r"[0-7]{1,24}", body[1:]):
        return int(body[1:], 8)
    if kind in ("x", "u", "U") and re.fullmatch(r"[0-9a-fA-F]{1,16}", digits):
        return int(digits, 16)
    return None if digits else _ESCAPES.get(kind, ord(kind))
