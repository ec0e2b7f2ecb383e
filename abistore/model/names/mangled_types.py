"""Types and expressions of a mangled C++ name, and its length when it is demangled.

A name mentions what it has said before by number (``S0_``, ``T_``), so that some hundred letters may stand for
gigabytes. :class:`SymbolReader` reads the name once by its grammar (Itanium C++ ABI, section 5.1) and adds up what each
letter stands for: what a number mentions is a stretch of the name, and as long as what was added up there.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Final

from abistore.model.names.mangled_letters import (
    COUNT,
    DIGITS,
    MOST_TOLD,
    Amount,
    EndlessName,
    NameReader,
    UnreadableName,
)

BUILTIN: Final = frozenset("abcdefghijlmnostvwxyz")
BUILTIN_LETTERS: Final = 18
"""``y`` is ``unsigned long long``."""
POINTERS: Final = {"P": 1, "R": 1, "O": 2, "C": 9, "G": 11}
EXCEPTIONS: Final = frozenset("xoOw")
"""Behind ``D``, qualifiers of a function: ``noexcept`` and the like."""
SHORT_TYPES: Final = frozenset("acfdehusin")
"""Behind ``D``: ``auto``, ``char8_t`` and the like."""

_PARAMETER: Final = re.compile(r"T(?:L\d*_)?\d*_")
_FLOAT: Final = re.compile(r"F\d+[_xb]")


class TypeReader(NameReader):
    """Reads types and template arguments."""

    def _types(self) -> None:
        while self._peek() not in ("", "E", ".") and self._peek(2) not in ("RE", "OE"):
            self._type()

    def _type(self) -> None:
        self._deeper(self._type_within)

    def _type_within(self) -> None:
        starts: list[Amount] = []
        while True:
            start, letter = self._here(), self._peek()
            if letter in POINTERS:
                self._take(1, POINTERS[letter] + 4)
            elif letter == "U" and self._peek(2) not in ("Ul", "Ut"):
                self._take(1, 1)
                self._source_name()
                if self._peek() == "I":
                    self._template_arguments()
            elif not self._qualifiers():
                break
            starts.append(start)
        self._unpointed()
        for start in reversed(starts):
            self._say(start)

    def _qualifiers(self) -> bool:
        """``const`` and its like, which count as one."""
        before = self._at
        while True:
            letter, pair = self._peek(), self._peek(2)
            if letter in ("r", "V", "K"):
                self._take(1, 10)
            elif letter == "D" and pair[1:] in EXCEPTIONS:
                self._take(2, 20)
                if pair == "DO":
                    self._expression()
                    self._expect("E")
                elif pair == "Dw":
                    self._types()
                    self._expect("E")
            else:
                return self._at > before

    def _unpointed(self) -> None:
        start, letter = self._here(), self._peek()
        if letter in BUILTIN:
            self._take(1, BUILTIN_LETTERS)
            return
        qualified = self._at and self._symbol[self._at - 1] in "rVK"
        match letter:
            case "u":
                self._take(1, 0)
                self._source_name()
                if self._peek() == "I":
                    self._template_arguments()
            case "F":
                self._function()
                if qualified:
                    return
            case "A":
                self._array()
            case "M":
                self._take(1, 8)
                self._type()
                self._type()
            case "T" if self._peek(2) not in ("Ts", "Tu", "Te"):
                self._template_parameter()
            case "D" if self._peek(2) not in ("DC",):
                if not self._described():
                    return
            case _:
                if letter == "T":
                    self._take(2, 7)
                if not self._name():
                    return
        self._say(start)

    def _function(self) -> None:
        self._expect("F")
        self._accept("Y")
        self._types()
        if self._peek() in ("R", "O"):
            self._take(1, 3)
        self._expect("E")
        self._letters += 8

    def _array(self) -> None:
        self._take(1, 6)
        if self._peek().isdecimal():
            self._skip(DIGITS)
        elif self._peek() != "_":
            self._expression()
        self._expect("_")
        self._type()

    def _template_parameter(self) -> None:
        start = self._here()
        self._parameter()
        if self._peek() != "I":
            return
        if not self._converting:
            self._say(start)
            self._template_arguments()
            return
        # the arguments may be those of the conversion operator itself: only what follows tells
        before = vars(self).copy() | {"_said": [*self._said]}
        self._template_arguments()
        if self._peek() == "I":
            self._say(start)
        else:
            vars(self).update(before)

    def _parameter(self) -> None:
        self._skip(_PARAMETER)
        self._parameters += 1

    def _described(self) -> bool:
        """A type that begins with ``D``; whether it is worth a mention."""
        kind = self._peek(2)
        self._take(2, 20)
        match kind:
            case "DT" | "Dt":
                self._expression()
                self._expect("E")
            case "Dp":
                self._expansion(self._type)
            case "Dv":
                if self._accept("_"):
                    self._expression()
                else:
                    self._skip(DIGITS)
                self._expect("_")
                self._type()
            case "DF":
                self._at -= 1
                self._skip(_FLOAT)
                return False
            case "DB" | "DU":
                if self._peek().isdecimal():
                    self._skip(DIGITS)
                else:
                    self._expression()
                self._expect("_")
                return False
            case _:
                if kind[1:] not in SHORT_TYPES:
                    raise UnreadableName
                return False
        return True

    def _template_arguments(self) -> None:
        self._deeper(self._arguments_within)

    def _arguments_within(self) -> None:
        if self._peek() not in ("I", "J"):
            raise UnreadableName
        self._take(1, 4)
        self._list(self._argument)

    def _argument(self) -> None:
        match self._peek():
            case "X":
                self._take(1, 2)
                self._expression()
                self._expect("E")
            case "L":
                self._primary()
            case "I" | "J":
                self._template_arguments()
            case _:
                if not self._declares():
                    self._type()

    # what types mention

    @abstractmethod
    def _expression(self) -> None:
        """A value that depends on template parameters."""

    @abstractmethod
    def _primary(self) -> None:
        """A literal, or the address of something."""


NO_OPERAND: Final = frozenset(["tr"])
UNARY: Final = frozenset(
    ["ad", "aw", "az", "co", "da", "de", "dl", "gs", "mm", "ng", "nt", "nx", "pp", "ps", "sZ", "sz", "te", "tw"]
)
TERNARY: Final = frozenset(["qu", "dX"])
OF_A_TYPE: Final = frozenset(["at", "st", "ti"])
CASTS: Final = frozenset(["cc", "dc", "rc", "sc"])
FOLDS: Final = {"fl": 1, "fr": 1, "fL": 2, "fR": 2}
NEW: Final = frozenset(["nw", "na"])

STUCK: Final = frozenset("UCD")
"""Letters that the runtime of GCC 12 does not step over where no name begins with them."""

_VALUE: Final = re.compile(r"n?[^E]*")


class SymbolReader(TypeReader):
    """Reads a whole name."""

    def _primary(self) -> None:
        self._expect("L")
        if self._peek() in ("_", "Z"):
            self._accept("_")
            self._expect("Z")
            self._encoding()
        else:
            self._type()
            self._skip(_VALUE)
        self._expect("E")

    def _expression(self) -> None:
        outside, self._in_expression = self._in_expression, True
        self._deeper(self._expression_within)
        self._in_expression = outside

    def _expression_within(self) -> None:
        self._letters += 4
        letter, pair = self._peek(), self._peek(2)
        if letter == "L":
            self._primary()
        elif letter == "T":
            self._parameter()
        elif letter.isdecimal() or pair == "on":
            self._unqualified()
            self._maybe_arguments()
        elif letter == "u":
            self._take(1, 0)
            self._source_name()
            self._list(self._argument)
        elif pair == "sr":
            self._unresolved()
        elif pair == "sp":
            self._take(2, 4)
            self._expansion(self._expression)
        elif pair in ("fp", "fL") and pair + self._symbol[self._at + 2 : self._at + 3] not in ("fLm", "fLp"):
            self._function_parameter(pair)
        elif pair in ("il", "tl"):
            self._take(2, 4)
            if pair == "tl":
                self._type()
            self._list(self._expression)
        else:
            self._operation()

    def _maybe_arguments(self) -> None:
        if self._peek() == "I":
            self._template_arguments()

    def _function_parameter(self, pair: str) -> None:
        if pair == "fL" and not self._symbol[self._at + 2 : self._at + 3].isdecimal():
            self._operation()
            return
        self._take(2, 12)
        if pair == "fL":
            self._skip(DIGITS)
            self._expect("p")
        if not self._accept("T"):
            self._qualifiers()
            self._skip(COUNT)

    def _unresolved(self) -> None:
        self._take(2, 2)
        letter = self._peek()
        if self._nested and (letter.isdecimal() or letter.islower() or letter in ("C", "U", "L")):
            self._qualifying()
            self._accept("E")
        else:
            self._type()
        self._unqualified()
        self._maybe_arguments()

    def _qualifying(self) -> None:
        try:
            self._prefix(mentionable=False)
        except UnreadableName:
            rest = self._symbol[max(self._at - 3, 0) :].partition("E")[0]
            if not STUCK.isdisjoint(rest):
                raise EndlessName from None
            raise

    def _operation(self) -> None:
        pair = self._operator()
        if pair in NO_OPERAND:
            return
        if pair == "cv":
            if self._accept("_"):
                self._list(self._expression)
            else:
                self._expression()
        elif pair in OF_A_TYPE:
            self._type()
        elif pair in FOLDS:
            self._operator()
            for _ in range(FOLDS[pair]):
                self._expression()
        elif pair in NEW:
            self._list(self._expression, "_")
            self._type()
            self._initialised()
        elif pair == "sP":
            self._list(self._argument)
        elif pair in UNARY or pair[1].isdecimal():
            if pair in ("pp", "mm"):
                self._accept("_")
            self._expression()
        else:
            self._two_or_more(pair)

    def _initialised(self) -> None:
        if self._accept("E"):
            return
        if self._accept("pi"):
            self._list(self._expression)
        else:
            self._expression()

    def _two_or_more(self, pair: str) -> None:
        if pair in CASTS:
            self._type()
        elif pair == "di":
            self._unqualified()
        else:
            self._expression()
        if pair == "cl":
            self._list(self._expression)
        elif pair in ("dt", "pt") and self._peek(2) not in ("gs", "sr"):
            self._unqualified()
            self._maybe_arguments()
        else:
            self._expression()
        if pair in TERNARY:
            self._expression()


MOST: Final = 1 << 20
"""Names that may become longer are not demangled. What is told is too long by a small factor only."""

MOST_CONVERSIONS: Final = 12
"""Conversions to template parameters: the C++ runtime reads what follows twice, and what is in that twice as often."""

HARD: Final = ("Dp", "sp", "sr")
"""What stands for something several times, and what the runtime of GCC 12 reads for ever where it is ungrammatical."""

_MENTIONS: Final = re.compile(r"(S)[0-9A-Z]*_|T[0-9]*_")
_CONVERSION: Final = re.compile(r"cv[^T]{0,40}T")


def is_short(symbol: str) -> bool:
    """Whether the mangled name ``symbol`` is known to become no longer than about :data:`MOST`.

    It is where even doubling everything with each mention would not make it longer; only other names are read.
    """
    length = len(symbol)
    plain = 20 * length + length * length // 8  # each constructor repeats the name of its class
    mentions = _MENTIONS.findall(symbol)
    within = symbol.count("Z") - 1  # in each function parameters mean something else
    doubled = len(mentions) + within * mentions.count("")
    if doubled < 32 and plain << doubled <= MOST and not any(pair in symbol for pair in HARD):
        return True
    if len(_CONVERSION.findall(symbol)) > MOST_CONVERSIONS:
        return False
    return demangled_length(symbol) <= MOST


def demangled_length(symbol: str) -> int:
    """An upper bound of the length of what ``symbol`` stands for, and of the work to spell it.

    Of what does not follow the grammar, or goes too deep, the bound is beyond all others.
    """
    for nested in (True, False):  # two ways to write a name that depends on a template's parameter
        reader = SymbolReader(symbol, 1, nested=nested)
        try:
            reader.whole()
            if reader.widest > 1:
                reader = SymbolReader(symbol, reader.widest, nested=nested)
                reader.whole()
            return reader.total()
        except EndlessName:
            break
        except (UnreadableName, RecursionError):
            continue
    return MOST_TOLD
