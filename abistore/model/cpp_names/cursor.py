"""The tokens of a name, and the one that a parser is at."""

from __future__ import annotations

from typing import Final

from abistore.model.cpp_names.tokens import END, Token

CLOSING: Final = frozenset(["", ",", ")", "]", "}"])


AHEAD: Final = (END,) * 4
"""So far the parser looks beyond the token that it is at."""


class NotAName(Exception):
    """The text does not follow the grammar of names."""


class TokenCursor:
    """Goes over the tokens from left to right."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = [*found, *AHEAD]
        self._position = 0

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[self._position + ahead]

    def _take(self) -> Token:
        token = self._tokens[self._position]
        if token is not END:
            self._position += 1
        return token

    def _accept(self, mark: str) -> bool:
        token = self._tokens[self._position]
        if token.text == mark and token.kind == "mark":
            self._position += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise NotAName

    def _at_end(self, angle: bool) -> bool:
        token = self._tokens[self._position]
        return token.kind == "mark" and (token.text in CLOSING or (angle and token.text == ">"))
