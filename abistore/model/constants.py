"""The values of constants, computed and spelled as one compiler would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt, ne
from typing import Final, NamedTuple

from abistore.patterns import pattern

INT: Final = 1 << 31
"""The first number that no ``int`` of 32 bits holds; up to there the radix of a literal does not change its type."""

TRUTH: Final = "?"
"""The type of a comparison: ``int`` in C and ``bool`` in C++, and a number in what is made of it."""

WIDTHS: Final = {
    TRUTH: 1,
    **{"": 31, "u": 32, "l": 31, "lu": 32, "ll": 63, "llu": 64},
    **{f"{sign}int{bits}_t": bits - (not sign) for sign in ("", "u") for bits in (8, 16, 64)},
    **{"signed char": 7, "unsigned char": 8, "short": 15, "unsigned short": 16, "size_t": 32},
}
"""Types, the six of literals by their sorted suffix, with the bits that their values have everywhere."""

WRAPPING: Final = frozenset({"u", "llu", "uint8_t", "uint16_t", "uint64_t", "unsigned char", "unsigned short"})
"""Those in which a number that is too large, or negative, is known to become another one."""

CASTS: Final = {
    **{each: each for each in WIDTHS if len(each) > 3},
    **{"int": "", "signed": "", "signed int": "", "int32_t": "", "unsigned": "u", "unsigned int": "u", "uint32_t": "u"},
    **{"long": "l", "long int": "l", "unsigned long": "lu", "unsigned long int": "lu"},
    **{"long long": "ll", "long long int": "ll", "unsigned long long": "llu", "unsigned long long int": "llu"},
}
"""What the types that a value may be cast to are here; 32 bits are ``int`` wherever the widths above hold."""

ABOVE: Final = {
    **{"u": frozenset({"lu", "ll", "llu"}), "l": frozenset({"lu", "ll"}), "lu": frozenset({"llu"})},
    **{"ll": frozenset({"llu"})},
}
"""To which other type an operand is converted on every machine; ``int`` to any of at least its size."""

WIDE: Final = frozenset({"ll", "llu", "int64_t", "uint64_t"})

LEVELS: Final = {
    **{"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7},
    **{"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10},
}
"""How tightly operators of two operands bind."""

TRUTHS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    **{"==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge},
    "&&": lambda one, two: bool(one and two),
    "||": lambda one, two: bool(one or two),
}
"""Operators whose result is 1 or 0."""


class Value(NamedTuple):
    """A number and its type."""

    number: int
    type: str

    def __str__(self) -> str:
        literal = len(self.type) <= 3
        return f"{self.number}{self.type}" if literal else f"({self.type}){self.number}"


class NotKnown(Exception):
    """The text is no arithmetic, or has another value on another machine."""


def evaluated(tokens: Sequence[str]) -> Value | None:
    """The value of an expression; ``None`` where it is none, or not the same everywhere."""
    reading = _Reading(tokens)
    try:
        value = reading.expression()
    except (NotKnown, RecursionError):
        return None
    return value if reading.at_end and value.type != TRUTH else None


def literal(text: str) -> tuple[int, str, int] | None:
    """The number, sorted suffix and radix of an integer literal."""
    digits = text.rstrip("uUlLzZ")
    suffix = "".join(sorted(text[len(digits) :].lower()))
    digits = digits.replace("'", "").lower()
    radix = {"0x": 16, "0b": 2}.get(digits[:2], 8 if len(digits) > 1 and digits[0] == "0" else 10)
    try:
        return int(digits, radix), suffix, radix
    except ValueError:
        return None


class _Reading:
    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._place = 0

    @property
    def at_end(self) -> bool:
        return self._place == len(self._tokens)

    def expression(self) -> Value:
        """The value of all operators and operands up to where no operator follows."""
        asked = self._operation(1)
        if self._next() != "?":
            return asked
        self._expect("?")
        one = self.expression()
        self._expect(":")
        other = self.expression()
        if TRUTH in (one.type, other.type):
            raise NotKnown
        type = _common(_promoted(one).type, _promoted(other).type)
        return _fitting((one if asked.number else other).number, type)

    def _operation(self, least: int) -> Value:
        """What operators that bind as ``least`` does, or more tightly, make of operands."""
        left = self._operand()
        while (level := LEVELS.get(self._next(), 0)) >= least:
            operator = self._take()
            left = _combined(operator, left, self._operation(level + 1))
        return left

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise NotKnown

    def _next(self) -> str:
        return "" if self.at_end else self._tokens[self._place]

    def _take(self) -> str:
        token = self._next()
        self._place += 1
        return token

    def _operand(self) -> Value:
        token = self._take()
        if token == "!":
            return Value(int(not self._operand().number), TRUTH)
        if token in ("+", "-", "~"):
            number, type = _promoted(self._operand())
            return _fitting({"+": number, "-": -number, "~": ~number}[token], type)
        if token == "(":
            words = self._type_name()
            if words is not None:
                return _fitting(self._operand().number, words)
            inner = self.expression()
            self._expect(")")
            return inner
        found = literal(token) if token[:1].isdecimal() else None
        if found is None or found[1] not in WIDTHS:
            raise NotKnown
        return _exact(found[0], found[1])

    def _type_name(self) -> str | None:
        """The type of a cast whose parenthesis was read, which is read too."""
        end = next((place for place in range(self._place, len(self._tokens)) if self._tokens[place] == ")"), None)
        found = CASTS.get(" ".join(self._tokens[self._place : end]))
        if found is not None and end is not None:
            self._place = end + 1
        return found


def _promoted(value: Value) -> Value:
    return value if WIDTHS[value.type] >= 31 else Value(value.number, "")


def _combined(operator: str, left: Value, right: Value) -> Value:
    (one, first), (two, second) = _promoted(left), _promoted(right)
    if operator in ("<<", ">>"):
        if one < 0 or not 0 <= two < (64 if first in WIDE else 32):
            raise NotKnown
        return _exact(one << two if operator == "<<" else one >> two, first)
    if operator in ("&&", "||"):
        return Value(int(TRUTHS[operator](one, two)), TRUTH)
    type = _common(first, second)
    one, two = _fitting(one, type).number, _fitting(two, type).number
    if operator in TRUTHS:
        return Value(int(TRUTHS[operator](one, two)), TRUTH)
    match operator:
        case "+":
            return _fitting(one + two, type)
        case "-":
            return _fitting(one - two, type)
        case "*":
            return _fitting(one * two, type)
        case "/" | "%":
            return _fitting(_divided(one, two)[operator == "%"], type)
        case "&":
            return _fitting(one & two, type)
        case "|":
            return _fitting(one | two, type)
        case _:
            return _fitting(one ^ two, type)


def _divided(one: int, two: int) -> tuple[int, int]:
    """Quotient and remainder: C rounds towards zero (C17, 6.5.5)."""
    if not two:
        raise NotKnown
    quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
    return quotient, one - quotient * two


def _common(first: str, second: str) -> str:
    for one, other in ((first, second), (second, first)):
        if one in ("", other) or other in ABOVE.get(one, ()):
            return other
    raise NotKnown


def _fitting(number: int, type: str) -> Value:
    """``number`` in ``type``, as C converts it."""
    return _exact(number % (1 << WIDTHS[type]) if type in WRAPPING else number, type)


def _exact(number: int, type: str) -> Value:
    """``number``, where every machine's ``type`` holds it."""
    least = 0 if "u" in type or type == "size_t" else -(1 << WIDTHS[type])
    if not least <= number < 1 << WIDTHS[type]:
        raise NotKnown
    return Value(number, type)


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
