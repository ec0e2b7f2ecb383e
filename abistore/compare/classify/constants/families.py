"""Families of macros: integers whose names begin alike, as those of an enumeration that is written in macros."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from abistore.compare.classify.constants.release import tells_release, words
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import INTEGER, known_value
from abistore.model.declared import Declared
from abistore.model.names import Name

MEASURES: Final = frozenset(
    {
        *("all", "count", "default", "last", "len", "length", "level", "limit", "mask", "max", "maximum", "min"),
        *("minimum", "num", "size", "threshold", "version"),
    }
)
"""Words of constants that measure something, or that stand for all others."""

MOST: Final = 16
"""How many beginnings of one name are looked at, shortest first."""


class Family:
    """Macros with their numbers on both sides, and the words that they are ``called`` by but for the library's name.

    Those that are ``following`` stand for others on the old side, and move with these.
    """

    def __init__(self, called: Sequence[str]) -> None:
        self.called = called
        self.old: dict[Name, int] = {}
        self.new: dict[Name, int] = {}
        self.following: set[Name] = set()

    def has_now(self, number: int, but: Name) -> bool:
        """Whether another macro than ``but`` has a number now."""
        return self._now[number] > (self.new.get(but) == number)

    def had(self, number: int, but: Name) -> bool:
        """Whether another macro than ``but`` had a number before."""
        return self._before[number] > (self.old.get(but) == number)

    def others_moved(self, name: Name) -> bool:
        """Whether a macro beside ``name`` has another number than before."""
        return len(self._moved) > (name in self._moved)

    @cached_property
    def _now(self) -> Counter[int]:
        return Counter(self.new.values())

    @cached_property
    def _before(self) -> Counter[int]:
        return Counter(self.old.values())

    @cached_property
    def _moved(self) -> frozenset[Name]:
        return frozenset(each for each, number in self.new.items() if number != self.old.get(each, number))


class Families:
    """The macros of integers of both sides, but for those that measure something.

    They are put together once: whoever asks of each macro looks at its own families only.
    """

    def __init__(self, context: Context) -> None:
        self._prefixes: dict[str, Family] = {}
        self._stems: dict[str, Family] = {}
        for name, number, is_following in _macros(context.old):
            for family in self.of(name):
                family.old[name] = number
                family.following.update([name] if is_following else ())
        for name, number, _ in _macros(context.new):
            for family in self.of(name):
                family.new[name] = number

    def of(self, name: Name) -> list[Family]:
        """The families of a macro: of what its name begins with, longest first, and of what that does behind a prefix.

        What is on trial in a library may have a prefix of its own: ``GEOX_JOIN_OPEN`` stands in a row with
        ``GEO_JOIN_ROUND``, by what is behind the first ``_``.
        """
        return self.beginning(name) + [self._stem(each) for each in _prefixes(name.spelling.partition("_")[2])]

    def beginning(self, name: Name) -> list[Family]:
        """The families of what the name of a macro begins with, longest first."""
        return [self._prefix(each) for each in _prefixes(name.spelling)]

    def _prefix(self, prefix: str) -> Family:
        if prefix not in self._prefixes:
            called = words(prefix)
            self._prefixes[prefix] = Family(called[1:] or called)
        return self._prefixes[prefix]

    def _stem(self, stem: str) -> Family:
        if stem not in self._stems:
            self._stems[stem] = Family(words(stem))
        return self._stems[stem]


def _prefixes(spelling: str) -> list[str]:
    """What a name begins with up to each ``_``, longest first."""
    ends = islice(re.finditer("(?<=[^_])_", spelling), MOST)
    return [spelling[: found.end()] for found in ends][::-1]


def _macros(side: SideFacts) -> Iterator[tuple[Name, int, bool]]:
    """The macros of integers, and whether each stands for others, as ``SET_BOTH (SET_A | SET_B)`` does."""
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Declared) and {"constant", "macro"} <= set(shape.traits):
                value = INTEGER.fullmatch(known_value(shape) or "")
                parts = {part.lower() for part in name.spelling.split("_")}
                if value and MEASURES.isdisjoint(parts) and not tells_release(name):
                    yield name, int(value[1]), shape.meaning is not None
