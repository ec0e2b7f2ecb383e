"""The grammar of regular expressions: POSIX extended ones with the usual classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from abistore.errors import PolicyError

LONGEST = 1000
"""How many characters an expression may have."""

DEEPEST = 50
"""How deep groups may nest."""

MOST_REPEATS = 255
"""The highest count in ``{low,high}``, as POSIX has it (RE_DUP_MAX)."""

Test: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class One:
    """Any single character that passes the test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Sequence:
    """All parts, one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of the options."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``inner`` at least ``low`` times and at most ``high`` times; ``None``: without end."""

    inner: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start or the end of the text."""

    side: Literal["start", "end"]


Node: TypeAlias = One | Sequence | Choice | Repeat | Anchor


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


CLASSES: dict[str, Test] = {"d": str.isdigit, "w": _word, "s": str.isspace}
POSIX: dict[str, Test] = {
    "alpha": str.isalpha,
    "digit": str.isdigit,
    "alnum": str.isalnum,
    "upper": str.isupper,
    "lower": str.islower,
    "space": str.isspace,
    "blank": lambda char: char in " \t",
    "punct": lambda char: char.isascii() and char.isprintable() and not char.isalnum() and char != " ",
    "xdigit": lambda char: char in "0123456789abcdefABCDEF",
}
CONTROLS = {"n": "\n", "t": "\t"}


def parse(pattern: str) -> Node:
    """The expression as a tree. Raises :class:`PolicyError`."""
    return _Parser(pattern).whole()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        if len(self._pattern) > LONGEST:
            raise self._wrong(f"longer than {LONGEST} characters")
        if not self._pattern:
            raise self._wrong("empty")
        node = self._choice()
        if self._at < len(self._pattern):
            raise self._wrong("a ) without its (")
        return node

    def _wrong(self, what: str) -> PolicyError:
        shown = self._pattern if len(self._pattern) <= 60 else f"{self._pattern[:57]}..."
        return PolicyError(
            f"regular expression {shown!r}: {what}",
            "write a POSIX extended regular expression; \\d \\w \\s and (?:...) are known too",
        )

    def _next(self) -> str:
        """The character at the reading place; empty at the end."""
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._next()
        self._at += 1
        return char

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while (char := self._next()) and char not in "|)":
            parts.append(self._repeated(self._atom()))
        return Sequence(tuple(parts))

    def _repeated(self, inner: Node) -> Node:
        char = self._next()
        if not char or char not in "*+?{":
            return inner
        if isinstance(inner, Anchor):
            raise self._wrong("an anchor cannot be repeated")
        self._at += 1
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char] if char != "{" else self._counts()
        if self._next() and self._next() in "*+?{":
            raise self._wrong(f"a repetition is repeated: {char}{self._next()}")
        return Repeat(inner, low, high)

    def _counts(self) -> tuple[int, int | None]:
        end = self._pattern.find("}", self._at)
        text = self._pattern[self._at : end] if end >= 0 else ""
        low, comma, high = text.partition(",")
        if not low.isdecimal() or (high and not high.isdecimal()):
            raise self._wrong("{ without counts and }; a plain brace is \\{")
        self._at = end + 1
        least, most = int(low), int(high) if high else (None if comma else int(low))
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise self._wrong(f"counts must rise and be at most {MOST_REPEATS}")
        return least, most

    def _atom(self) -> Node:
        char = self._take()
        match char:
            case "(":
                return self._group()
            case "[":
                return One(self._bracket())
            case ".":
                return One(lambda _: True)
            case "^":
                return Anchor("start")
            case "$":
                return Anchor("end")
            case "\\":
                return One(self._escape())
            case "*" | "+" | "?" | "{":
                raise self._wrong(f"nothing before {char} to repeat")
        return One(_is(char))

    def _group(self) -> Node:
        if self._next() == "?":
            if not self._pattern.startswith("?:", self._at):
                raise self._wrong("(?...) other than (?:...) is not known")
            self._at += 2
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"groups nest deeper than {DEEPEST}")
        inner = self._choice()
        if self._take() != ")":
            raise self._wrong("a ( without its )")
        self._depth -= 1
        return inner

    def _escape(self) -> Test:
        char = self._take()
        if not char:
            raise self._wrong("a \\ at the end")
        if char.lower() in CLASSES:
            test = CLASSES[char.lower()]
            return test if char.islower() else lambda other: not test(other)
        if char in CONTROLS:
            return _is(CONTROLS[char])
        if char.isalnum():
            raise self._wrong(f"\\{char} is not known")
        return _is(char)

    def _bracket(self) -> Test:
        negated = self._next() == "^"
        self._at += negated
        tests: list[Test] = []
        while self._next() != "]" or not tests:
            tests.append(self._member())
        self._at += 1
        return lambda char: any(test(char) for test in tests) is not negated

    def _member(self) -> Test:
        if self._pattern.startswith("[:", self._at):
            name, _, _ = self._pattern[self._at + 2 :].partition(":]")
            if name not in POSIX:
                raise self._wrong("an unknown [:class:]")
            self._at += len(name) + 4
            return POSIX[name]
        char = self._take()
        if not char:
            raise self._wrong("a [ without its ]")
        if char == "\\":
            return self._escape()
        if self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
            self._at += 1
            last = self._take()
            if last in ("\\", "[") or last < char:
                raise self._wrong(f"the range {char}-{last} is not one")
            return lambda other: char <= other <= last
        return _is(char)


def _is(char: str) -> Test:
    return lambda other: other == char
