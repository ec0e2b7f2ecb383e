"""The expressions of a mangled name."""

from __future__ import annotations

import re
from typing import Final

from abistore.model.mangling.letters import EndlessName, UnreadableName
from abistore.model.mangling.names import COUNT, DIGITS
from abistore.model.mangling.types import TypeReader

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
        """A literal, or the address of something."""
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
