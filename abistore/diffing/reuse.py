"""Values kept from one comparison for the next, and notes of what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from abistore.model.declarations import FACETS, Facet, Name
from abistore.model.names.symbols import named_by_sources
from abistore.model.snapshot import Snapshot, Variants

Differing: TypeAlias = Mapping[Facet, frozenset[Name]]
"""By facet, the names that only one side has there, or that have other shapes."""


def differing(old: Snapshot, new: Snapshot, among: Collection[Name] | None = None) -> Differing:
    """The names that differ, facet by facet; in a facet that one side has not observed these are all of the other's.

    Names that compilers make from contents are none by which anybody asks for anything.

    Where it is known ``among`` which names they are, no others are looked at.
    """
    exports = [side.entries.get("symbol", {}) for side in (old, new)]
    return {
        facet: named_by_sources(_differing(old.entries.get(facet, {}), new.entries.get(facet, {}), among), exports)
        for facet in FACETS
    }


def renewed(known: Differing, old: Snapshot, new: Snapshot, changed: Collection[Name]) -> Differing:
    """The names that differ, where ``known`` are those that did before ``changed`` ones of the new side did."""
    fresh = differing(old, new, changed)
    return {facet: names.difference(changed) | fresh[facet] for facet, names in known.items()}


def _differing(
    old: Mapping[Name, Variants], new: Mapping[Name, Variants], among: Collection[Name] | None
) -> frozenset[Name]:
    if among is not None:
        return frozenset(name for name in among if old.get(name) != new.get(name))
    changed = [name for name, shapes in old.items() if new.get(name) != shapes]
    return frozenset([*changed, *(new.keys() - old.keys())])


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


P = TypeVar("P")


class LazyValue(Generic[P]):
    """A value that is worked out when it is first asked for. Who keeps one of these keeps nothing else alive."""

    def __init__(self, make: Callable[[], P]) -> None:
        self._make = make
        self._made: list[P] = []

    def __call__(self) -> P:
        """The value."""
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def put(self, value: P) -> None:
        """Take what somebody else worked out."""
        self._made = [value]

    @property
    def known(self) -> bool:
        """Whether it has been worked out."""
        return bool(self._made)


Follows: TypeAlias = Literal["shapes", "resolved", "library"]
"""What a summary follows: the shapes of its name; those, too, that it resolves types through; or the whole library."""


class Summaries(Mapping[Name, P], Generic[P]):
    """What a question about the whole library needs to know of each declaration, made when it is first asked for.

    Where ``files`` are given, all summaries follow these, too.
    """

    def __init__(
        self,
        names: Mapping[Name, object],
        summarise: Callable[[Name], P],
        *,
        follows: Follows = "shapes",
        files: Mapping[Name, str] | None = None,
    ) -> None:
        self._names = names
        self._files = files
        self._summarise = summarise
        self._made: dict[Name, P] = {}
        self.follows = follows

    def __getitem__(self, name: Name) -> P:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._summarise(name)
        return found

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def all(self) -> Mapping[Name, P]:
        """Every summary, as a table that is fast to go through."""
        for name in self._names.keys() - self._made.keys():
            self._made[name] = self._summarise(name)
        return self._made

    def carry(self, before: Summaries[P], changed: Collection[Name]) -> bool:
        """Take the summaries of the release before, but for the ``changed`` names; whether those are equal too."""
        if self._files is not before._files and self._files != before._files:
            return False
        made = {**before._made, **self._made}
        for name in changed:
            if name in made and name not in self._made:
                del made[name]
        self._made = made
        return all(
            (name in before) == (name in self) and (name not in before._made or before._made[name] == self[name])
            for name in changed
        )


class Derived:
    """Something that is worked out from its attributes alone: summaries, other derived values, and plain ones.

    Its cached properties hold for a later release if the attributes do.
    """


class Carrying:
    """Carries what is derived of one release over to the next, which differs from it in the ``changed`` names.

    ``resolving`` gives these and all that look through them when they resolve a type.
    """

    def __init__(self, changed: Collection[Name], resolving: Callable[[], Collection[Name]]) -> None:
        self._changed = changed
        self._resolving = LazyValue(resolving)
        self._known: dict[int, bool] = {}

    def carry(self, after: object, before: object) -> bool:
        """Give ``after`` the answers of ``before`` that hold for it; whether all of them do."""
        if id(before) not in self._known:
            self._known[id(before)] = type(after) is type(before) and self._carried(after, before)
        return self._known[id(before)]

    def _carried(self, after: object, before: object) -> bool:
        if isinstance(before, Summaries):
            assert isinstance(after, Summaries)
            if before.follows == "library":
                return False
            return after.carry(before, self._changed if before.follows == "shapes" else self._resolving())
        return self._answers(after, before)

    def _answers(self, after: object, before: object) -> bool:
        kept = vars(before)
        answers = [name for name in kept if isinstance(getattr(type(before), name, None), cached_property)]
        parts = [name for name, value in kept.items() if isinstance(value, Derived | Summaries)]
        differing = [name for name in parts if not self.carry(getattr(after, name), kept[name])]
        plain = (name for name in kept if name not in answers and name not in parts)
        if not all(name in answers for name in differing):
            return False
        if not all(_is_equal(getattr(after, name), kept[name]) for name in plain):
            return False
        for name in answers:
            vars(after).setdefault(name, kept[name])
        return True


def _is_equal(after: object, before: object) -> bool:
    """Whether two plain values are equal. Snapshots are not compared: they differ from release to release."""
    return after is before or (isinstance(before, bool | str | tuple | frozenset | dict) and after == before)
