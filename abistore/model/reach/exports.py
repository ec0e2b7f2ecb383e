"""Which exports reach each name, for all names at once."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Final

from abistore.model.names import Name

CLOSED: Final = sys.maxsize
"""The place in the walk of a name whose component is known."""


class ExportsReaching:
    """The exports that reach each of many names, in time linear in the mentions between them.

    ``users`` are the names that mention a name, each with whether they do so by value. Names that reach each other are
    reached by the same exports: they are a strongly connected component (Tarjan, "Depth-first search and linear graph
    algorithms", 1972). A set of exports is a number with a bit for each, and names with one set share one tuple.
    """

    def __init__(self, users: Mapping[Name, Mapping[Name, bool]], exports: Sequence[Name], by_value_only: bool) -> None:
        self._users = users
        self._exports = exports
        self._by_value_only = by_value_only
        self._bits = {name: 1 << place for place, name in enumerate(exports)}
        self._sets: dict[Name, int] = {}
        self._tuples: dict[int, tuple[Name, ...]] = {0: ()}
        self._places: dict[Name, int] = {}
        self._lowest: dict[Name, int] = {}
        self._open: list[Name] = []
        for name in users:
            if name not in self._places:
                self._walk(name)

    def of(self, name: Name) -> tuple[Name, ...]:
        """The exports that reach ``name`` (itself too), in the order of all exports."""
        found = self._sets.get(name, self._bits.get(name, 0))
        if found not in self._tuples:
            self._tuples[found] = tuple(compress(self._exports, map(int, reversed(f"{found:b}"))))
        return self._tuples[found]

    def _walk(self, root: Name) -> None:
        """Tarjan's walk from ``root`` to its users, theirs, and so on, without recursion."""
        walk = [(root, iter(self._enter(root)))]
        while walk:
            name, left = walk[-1]
            if (user := next(left, None)) is None:
                walk.pop()
                self._leave(name)
                if walk:
                    self._join(walk[-1][0], name, self._lowest[name])
            elif user in self._places:
                self._join(name, user, self._places[user])
            else:
                walk.append((user, iter(self._enter(user))))

    def _enter(self, name: Name) -> list[Name]:
        self._places[name] = self._lowest[name] = len(self._places)
        self._sets[name] = self._bits.get(name, 0)
        self._open.append(name)
        found = self._users.get(name, {})
        return [user for user, by_value in found.items() if by_value] if self._by_value_only else list(found)

    def _join(self, name: Name, user: Name, place: int) -> None:
        """What reaches ``user`` reaches ``name``; an open user is in one component with it."""
        self._sets[name] |= self._sets[user]
        self._lowest[name] = min(self._lowest[name], place)

    def _leave(self, name: Name) -> None:
        """A name that led to none before it closes its component: all that is open since."""
        if self._lowest[name] != self._places[name]:
            return
        found = self._sets[name]
        while True:
            each = self._open.pop()
            self._sets[each] = found
            self._places[each] = self._lowest[each] = CLOSED
            if each == name:
                return
