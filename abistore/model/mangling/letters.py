"""Stepping through the letters of a mangled name, and adding up what they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Amount: TypeAlias = tuple[int, int]
"""So many letters, and so many template parameters."""

DEEPEST: Final = 150
"""How deep what calls itself may go; pointers to pointers are no steps."""

MOST_TOLD: Final = 1 << 40


class UnreadableName(Exception):
    """The name does not follow the grammar, or goes too deep."""


class EndlessName(Exception):
    """The runtime of GCC 12 would try one letter for ever, and never come to the other way to read the name."""


class LetterReader:
    """A name that is read from left to right. What is read is added up: letters, and template parameters.

    ``each`` is how many elements a pack may have. ``nested`` tells how unresolved names are written. ``widest`` is how
    many elements a list has at most.
    """

    def __init__(self, symbol: str, each: int, *, nested: bool) -> None:
        self._symbol = symbol
        self._each = each
        self._nested = nested
        self._at = 0
        self._letters = 0
        self._parameters = 0
        self._said: list[Amount] = []
        self._depth = 0
        self._longest_name = 0
        self._unnamed = 0
        self._conversions = 0
        self._templates = 0
        self._converting = False
        self._in_expression = False
        self._arguments: Amount = (0, 0)
        self._arguments_end = -1
        self._of_functions: Amount = (0, 0)
        self._of_all: Amount = (0, 0)
        self.widest = 0

    def total(self) -> int:
        """What was added up, each parameter as long as the longest argument, whose own parameters are outer ones'."""
        letters, parameters = self._of_all if self._conversions else self._of_functions
        longest = 2
        for _ in range(self._templates + self._conversions):
            longest = min(letters + parameters * longest, MOST_TOLD)
        return min(self._letters + self._parameters * longest, MOST_TOLD)

    def _peek(self, count: int = 1) -> str:
        return self._symbol[self._at : self._at + count]

    def _take(self, count: int, letters: int) -> None:
        self._at += count
        self._letters += letters + 1
        if self._at > len(self._symbol):
            raise UnreadableName

    def _accept(self, text: str) -> bool:
        if self._symbol.startswith(text, self._at):
            self._take(len(text), 2)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise UnreadableName

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._symbol, self._at)
        if match is None:
            raise UnreadableName
        self._take(len(match[0]), len(match[0]) + 2)
        return match[0]

    def _deeper(self, read: Callable[[], object]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadableName
        read()
        self._depth -= 1

    def _here(self) -> Amount:
        return self._letters, self._parameters

    def _since(self, start: Amount) -> Amount:
        return self._letters - start[0], self._parameters - start[1]

    def _say(self, start: Amount) -> None:
        self._said.append(self._since(start))

    def _mention(self, amount: Amount) -> None:
        self._letters = min(self._letters + amount[0], MOST_TOLD)
        self._parameters = min(self._parameters + amount[1], MOST_TOLD)

    def _list(self, read: Callable[[], object], closing: str = "E") -> None:
        longest, count = (0, 0), 0
        outside, self._converting = self._converting, self._converting
        while not self._accept(closing):
            start = self._here()
            read()
            longest, count = longer(longest, self._since(start)), count + 1
            self._letters += 2
        self._converting = outside
        self.widest = max(self.widest, count)
        self._arguments, self._arguments_end = longest, self._at
        self._of_all = longer(self._of_all, longest)

    def _expansion(self, read: Callable[[], object]) -> None:
        """A pattern for each element of a pack; a single parameter in it is the pack itself."""
        start = self._here()
        read()
        letters, parameters = self._since(start)
        self._mention((letters * (self._each - 1), parameters * (self._each - 1) if parameters > 1 else 0))


def longer(one: Amount, other: Amount) -> Amount:
    """The larger of each."""
    return max(one[0], other[0]), max(one[1], other[1])
