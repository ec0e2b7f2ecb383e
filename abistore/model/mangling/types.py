"""The types of a mangled name, and template arguments."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Final

from abistore.model.mangling.letters import Amount, UnreadableName
from abistore.model.mangling.names import DIGITS, NameReader

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
