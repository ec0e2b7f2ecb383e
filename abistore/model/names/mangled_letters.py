"""Names and letters of a mangled C++ name."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
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


ABBREVIATED: Final = {"a": 14, "b": 17, "s": 76, "i": 52, "o": 52, "d": 52, "t": 5}
"""``Ss`` is ``std::basic_string<char, std::char_traits<char>, std::allocator<char> >`` before a constructor."""

OPERATOR_LETTERS: Final = 18

COUNT: Final = re.compile(r"n?\d*_")
DIGITS: Final = re.compile(r"\d*")
_SEQUENCE: Final = re.compile(r"S([0-9A-Z]*)_")
_CLONE: Final = re.compile(r"(?:\.[a-z0-9_]+)*")
_LENGTH: Final = re.compile(r"\d{1,6}")
_CONSTRUCTOR: Final = re.compile(r"C[1-5]|CI[1-5]|D[0-5]")
_OFFSET: Final = re.compile(r"(?:hn?\d*|vn?\d*_n?\d*)_")
_DISCRIMINATOR: Final = re.compile(r"(?:__\d+_|_\d+)?")


class NameReader(LetterReader, ABC):
    """Reads names."""

    def whole(self) -> None:
        """Read all of the name; raises :class:`UnreadableName`."""
        self._expect("_Z")
        self._encoding()
        self._skip(_CLONE)
        if self._at < len(self._symbol):
            raise UnreadableName

    def _substitution(self) -> None:
        """``S0_``, or ``Ss`` and its like. Demanglers count unnamed types once or twice."""
        start = self._here()
        if match := _SEQUENCE.match(self._symbol, self._at):
            number = int(match[1], 36) + 1 if match[1] else 0
            near = self._said[max(number - self._unnamed, 0) : number + self._unnamed + 1]
            if number >= len(self._said) or not near:
                raise UnreadableName
            self._take(len(match[0]), 0)
            self._mention((max(letters for letters, _ in near), max(parameters for _, parameters in near)))
            return
        letters = ABBREVIATED.get(self._peek(2)[1:])
        if letters is None:
            raise UnreadableName
        self._take(2, letters)
        if self._peek() == "B":
            self._tags()
            self._say(start)

    def _encoding(self) -> None:
        self._deeper(self._encoding_within)

    def _encoding_within(self) -> None:
        if self._peek() in ("T", "G"):
            self._special()
            return
        self._name()
        closed = self._symbol[self._at - 1] == "E"
        if self._arguments_end in (self._at, self._at - closed):
            self._of_functions = longer(self._of_functions, self._arguments)
            self._templates += 1
        if self._peek() not in ("", "E", "."):
            self._accept("J")
            self._types()

    def _special(self) -> None:
        kind = self._peek(2)
        self._take(2, 30)
        match kind:
            case "TV" | "TT" | "TI" | "TS" | "TF" | "TJ":
                self._type()
            case "TC":
                self._type()
                self._skip(COUNT)
                self._type()
            case "Th" | "Tv" | "Tc":
                self._at -= kind != "Tc"
                self._skip(_OFFSET)
                if kind == "Tc":
                    self._skip(_OFFSET)
                self._encoding()
            case "TH" | "TW" | "GV":
                self._name()
            case "TA":
                self._argument()
            case "GR":
                self._name()
                self._skip(DIGITS)
                self._accept("_")
            case "GA":
                self._encoding()
            case "GT":
                self._take(1, 0)
                self._encoding()
            case "GI":
                self._module()
            case _:
                raise UnreadableName

    def _name(self) -> bool:
        """Whether what was read is worth a mention: it is not one itself."""
        start = self._here()
        match self._peek():
            case "N":
                self._qualified()
                return True
            case "Z":
                self._local()
                return True
            case "S" if self._peek(2) != "St":
                self._substitution()
                if self._peek() == "I":
                    self._template_arguments()
                    return True
                return False
        if self._accept("St"):
            self._letters += 3
        self._unqualified()
        if self._peek() == "I":
            self._say(start)
            self._template_arguments()
        return True

    def _qualified(self) -> None:
        self._expect("N")
        self._qualifiers()
        if self._peek() in ("R", "O"):
            self._take(1, 3)
        self._prefix(mentionable=True)
        self._expect("E")

    def _prefix(self, *, mentionable: bool) -> None:
        start = self._here()
        first = self._at
        while True:
            letter = self._peek()
            if letter == "M" and self._at > first:
                self._take(1, 0)
                continue
            if letter == "S":
                self._substitution()
                continue
            if letter == "I" and self._at > first:
                self._template_arguments()
            elif letter == "T":
                self._parameter()
            elif self._peek(2) in ("DT", "Dt"):
                self._type()
            else:
                self._unqualified()
            self._letters += 2
            if self._peek() == "E":
                return
            if mentionable:
                self._say(start)

    def _local(self) -> None:
        self._expect("Z")
        self._encoding()
        self._expect("E")
        if self._peek() == "s":
            self._take(1, 16)
        else:
            if self._accept("d"):
                self._letters += 24
                self._skip(COUNT)
            self._deeper(self._name)
        self._skip(_DISCRIMINATOR)

    def _unqualified(self) -> None:
        if self._peek() == "W":
            self._module()
        self._accept("F")
        letter, pair = self._peek(), self._peek(2)
        if letter.isdecimal():
            self._source_name()
        elif letter == "L":
            self._take(1, 0)
            self._source_name()
            self._skip(_DISCRIMINATOR)
        elif pair == "DC":
            self._take(2, 4)
            while not self._accept("E"):
                self._source_name()
        elif letter in ("C", "D"):
            self._constructor()
        elif pair == "Ul":
            self._closure()
        elif pair == "Ut":
            start = self._here()
            self._take(2, 24)
            self._skip(COUNT)
            self._unnamed += 1
            self._say(start)
        else:
            outside, self._in_expression = self._in_expression, self._in_expression and not self._accept("on")
            self._letters += 9
            if self._operator() == "li":
                self._source_name()
            self._in_expression = outside
        self._tags()

    def _source_name(self) -> None:
        match = _LENGTH.match(self._symbol, self._at)
        length = int(match[0]) if match else 0
        end = match.end() + length if match else 0
        if not length or end > len(self._symbol):
            raise UnreadableName
        self._take(end - self._at, max(length, 21))  # (anonymous namespace)
        self._longest_name = max(self._longest_name, length)

    def _tags(self) -> None:
        while self._peek() == "B":
            self._take(1, 7)
            self._source_name()

    def _module(self) -> None:
        start = self._here()
        while self._accept("W"):
            self._accept("P")
            self._source_name()
            self._say(start)

    def _constructor(self) -> None:
        self._letters += self._longest_name + 20
        if "I" in self._skip(_CONSTRUCTOR):
            self._type()

    def _closure(self) -> None:
        self._take(2, 12)
        while self._declares():
            pass
        self._types()
        self._expect("E")
        self._skip(COUNT)

    def _declares(self) -> bool:
        """A template parameter as a generic closure declares it."""
        pair = self._peek(2)
        if pair not in ("Ty", "Tn", "Tt", "Tp", "Tk"):
            return False
        self._take(2, 24)
        match pair:
            case "Tn":
                self._type()
            case "Tt":
                while self._declares():
                    pass
                self._expect("E")
            case "Tp":
                self._declares()
            case "Tk":
                self._name()
        return True

    def _operator(self) -> str:
        pair = self._peek(2)
        if len(pair) < 2 or not pair[0].islower():
            raise UnreadableName
        self._take(2, OPERATOR_LETTERS)
        if pair == "cv":
            outside, self._converting = self._converting, not self._in_expression
            self._conversions += self._converting
            self._type()
            self._converting = outside
        elif pair[0] == "v" and pair[1].isdecimal():
            self._source_name()
        return pair

    # what names mention

    @abstractmethod
    def _type(self) -> None:
        """A type."""

    @abstractmethod
    def _types(self) -> None:
        """Types up to the end of a list."""

    @abstractmethod
    def _qualifiers(self) -> bool:
        """``const`` and its like; whether there are any."""

    @abstractmethod
    def _parameter(self) -> None:
        """A template parameter."""

    @abstractmethod
    def _argument(self) -> None:
        """A template argument."""

    @abstractmethod
    def _template_arguments(self) -> None:
        """A list of template arguments."""
