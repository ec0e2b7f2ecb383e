"""Noting what is looked at, so that an answer can be kept for as long as nothing of that differs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, overload

from abistore.model.names import Name

V = TypeVar("V")
D = TypeVar("D")

Key: TypeAlias = Hashable
"""Something that was looked at: a declaration by its name, or another fact about one as a pair of a word and a name."""

EVERYTHING: Key = "everything"
"""What is looked at by who goes through a whole table."""

Note: TypeAlias = Callable[[Any], object]


class Watched(Mapping[Name, V], Generic[V]):
    """A table by names that tells which of them are looked up, as pairs with ``what`` unless that is empty."""

    __slots__ = ("_held", "_note", "_what")

    def __init__(self, held: Mapping[Name, V], note: Note, what: str = "") -> None:
        self._held = held
        self._note = note
        self._what = what

    def _look(self, name: object) -> None:
        self._note((self._what, name) if self._what else name)

    def __getitem__(self, name: Name) -> V:
        self._look(name)
        return self._held[name]

    @overload
    def get(self, name: Name, /) -> V | None: ...

    @overload
    def get(self, name: Name, /, default: V | D) -> V | D: ...

    def get(self, name: Name, /, default: object = None) -> object:
        """What ``name`` stands for, or ``default``."""
        self._look(name)
        return self._held.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._look(name)
        return name in self._held

    def __iter__(self) -> Iterator[Name]:
        self._note(EVERYTHING)
        return iter(self._held)

    def __len__(self) -> int:
        self._note(EVERYTHING)
        return len(self._held)


class WatchedNames(frozenset[Name]):
    """Names that tell which others are compared with them."""

    def watched(self, note: Note, what: str) -> WatchedNames:
        """These, of which ``note`` is told in pairs with ``what``."""
        self._note = note
        self._what = what
        return self

    def __contains__(self, name: object) -> bool:
        self._note((self._what, name))
        return super().__contains__(name)


class Readers(Generic[V]):
    """Who looked at what."""

    def __init__(self) -> None:
        self._keys: dict[V, frozenset[Key]] = {}
        self._readers: dict[Key, set[V]] = {}

    def keep(self, reader: V, keys: Iterable[Key]) -> None:
        """Note what a reader looked at, in place of what it looked at before."""
        self.forget(reader)
        self._keys[reader] = frozenset(keys)
        for key in self._keys[reader]:
            self._readers.setdefault(key, set()).add(reader)

    def forget(self, reader: V) -> None:
        """Forget what a reader looked at."""
        for key in self._keys.pop(reader, ()):
            readers = self._readers[key]
            readers.discard(reader)
            if not readers:
                del self._readers[key]

    def of(self, keys: Iterable[Key]) -> set[V]:
        """Who looked at any of ``keys``, or at everything."""
        return set().union(*(self._readers.get(key, ()) for key in (*keys, EVERYTHING)))
