"""Patterns matched in time proportional to the text, whatever they are: by an automaton, without backtracking."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from functools import cache

from abistore.compare.policies.syntax import Anchor, Choice, Node, One, Repeat, Sequence, Test, parse
from abistore.errors import PolicyError

MOST_NODES = 5000
"""How large an expression may grow when its counts are written out."""

MOST_STATES = 2000
"""How many states are remembered; beyond that they are worked out again."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression. A ``whole`` one must match all of the text, another one any part of it.

    ``written`` is what its author wrote, where that was a glob. Raises :class:`PolicyError` where the pattern is no
    expression, or too large.
    """

    pattern: str
    whole: bool = True
    written: str = ""

    def __str__(self) -> str:
        return self.written or self.pattern

    def __post_init__(self) -> None:
        _automaton(self.pattern, self.whole)

    def matches(self, text: str) -> bool:
        """Whether ``text`` matches."""
        return _automaton(self.pattern, self.whole).accepts(text)


def glob(pattern: str, separator: str) -> Expression:
    """A pattern in which ``*`` and ``?`` match anything but the separator, and ``**`` anything at all."""
    translated = ""
    for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
        inner = f"[^{separator}]"
        known = {"**": ".*", "*": f"{inner}*", "?": inner, "**/": "(.*/)?"}
        translated += known.get(part) or re.sub(r"([^\w])", r"\\\1", part)
    return Expression(translated, written=pattern)


@dataclass(slots=True)
class _State:
    """A set of places in the expression; ``found`` where the text so far is enough, ``ends`` where it may end here."""

    places: frozenset[int]
    found: bool
    ends: bool
    following: dict[str, _State] = field(default_factory=dict)


MATCH = 0
"""The place after the whole expression."""


class _Automaton:
    def __init__(self, node: Node, whole: bool, pattern: str) -> None:
        self._whole = whole
        self._pattern = pattern
        self._tests: dict[int, tuple[Test, int]] = {}
        self._jumps: dict[int, list[int]] = {}
        self._anchors: dict[int, tuple[str, int]] = {}
        self._count = 1
        self._entry = self._place(node, MATCH)
        self._states: dict[frozenset[int], _State] = {}
        places = self._closure([self._entry], {"start"})
        ends = MATCH in self._closure([self._entry], {"start", "end"})
        self._first = _State(places, MATCH in places and not whole, ends)

    def accepts(self, text: str) -> bool:
        state = self._first
        for char in text:
            if state.found:
                return True
            if not state.places:
                return False
            state = state.following.get(char) or self._step(state, char)
        return state.ends

    def _new(self) -> int:
        self._count += 1
        if self._count > MOST_NODES:
            raise PolicyError(
                f"regular expression {self._pattern[:60]!r}: too large when its counts are written out",
                "use smaller counts, or * instead",
            )
        return self._count

    def _place(self, node: Node, after: int) -> int:
        """The place from which ``node`` is matched, with ``after`` as what follows it."""
        match node:
            case One(test):
                place = self._new()
                self._tests[place] = (test, after)
                return place
            case Anchor(side):
                place = self._new()
                self._anchors[place] = (side, after)
                return place
            case Sequence(parts):
                for part in reversed(parts):
                    after = self._place(part, after)
                return after
            case Choice(options):
                place = self._new()
                self._jumps[place] = [self._place(option, after) for option in options]
                return place
            case Repeat(inner, low, high):
                return self._repeat(inner, low, high, after)

    def _repeat(self, inner: Node, low: int, high: int | None, after: int) -> int:
        if high is None:
            place = self._new()
            self._jumps[place] = [after]
            self._jumps[place].append(self._place(inner, place))
        else:
            place = after
            for _ in range(high - low):
                optional = self._new()
                self._jumps[optional] = [after, self._place(inner, place)]
                place = optional
        for _ in range(low):
            place = self._place(inner, place)
        return place

    def _closure(self, places: Iterable[int], at: Set[str]) -> frozenset[int]:
        """What is reached without reading a character, where the text is ``at`` its start, its end, both or neither."""
        seen: set[int] = set()
        pending = list(places)
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            pending += self._jumps.get(place, ())
            side, after = self._anchors.get(place, ("", MATCH))
            if side in at:
                pending.append(after)
        return frozenset(place for place in seen if place not in self._jumps)

    def _state(self, places: frozenset[int]) -> _State:
        known = self._states.get(places)
        if known is None:
            if len(self._states) >= MOST_STATES:
                for state in self._states.values():
                    state.following.clear()
                self._states.clear()
            ends = MATCH in self._closure(places, {"end"})
            known = self._states[places] = _State(places, MATCH in places and not self._whole, ends)
        return known

    def _step(self, state: _State, char: str) -> _State:
        reached = [
            self._tests[place][1] for place in state.places if place in self._tests and self._tests[place][0](char)
        ]
        if not self._whole:
            reached.append(self._entry)
        following = self._state(self._closure(reached, frozenset()))
        state.following[char] = following
        return following


@cache
def _automaton(pattern: str, whole: bool) -> _Automaton:
    return _Automaton(parse(pattern), whole, pattern)
