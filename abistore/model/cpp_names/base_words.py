"""What stands before a declarator, in the order of the normal spelling."""

from __future__ import annotations

from typing import Final

from abistore.model.cpp_names.builtins import builtin

LEADING_WORDS: Final = frozenset(["constexpr", "extern", "for", "from", "inline", "static", "to", "virtual"])
"""Words before a type, as in ``typeinfo for char const*``: a qualifier after one belongs to what follows."""


class BaseWords:
    """The words and qualifiers before a declarator; a run of built-in words is taken as one word.

    The qualifiers, on whichever side of a word they were, go before the first word that no leading word precedes.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._qualifiers: set[str] = set()
        self._run: list[str] = []

    def qualify(self, qualifier: str) -> None:
        """Add a qualifier, wherever it stood."""
        self._qualifiers.add(qualifier)

    def builtin(self, word: str) -> None:
        """Add a word of a built-in type to the run of such words."""
        self._run.append(word)

    def word(self, word: str) -> None:
        """Add any other word, which ends a run."""
        self._close()
        self._words.append(word)

    def _close(self) -> None:
        if self._run:
            self._words.append(builtin(self._run))
            self._run = []

    @property
    def lone_builtin(self) -> bool:
        """Whether all words so far are of one built-in type."""
        return bool(self._run) and not self._words

    def text(self) -> str:
        """The words in order."""
        self._close()
        words = self._words
        if self._qualifiers:
            first = next((len(words) - at for at, word in enumerate(reversed(words)) if word in LEADING_WORDS), 0)
            words = [*words[:first], *sorted(self._qualifiers), *words[first:]]
        return " ".join(words)
