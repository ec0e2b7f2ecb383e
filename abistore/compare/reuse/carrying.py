"""What is worked out of a whole snapshot, taken on to the next release where nothing that it depends on differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

from abistore.model.names import Name

P = TypeVar("P")
W = TypeVar("W")


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


class Summaries(Mapping[Name, P], Generic[P]):
    """What a question about the whole library needs to know of each declaration, made when it is first asked for.

    An answer that looks at summaries only holds for a later release too if all summaries that it looked at are equal.
    """

    def __init__(self, names: Mapping[Name, object], summarise: Callable[[Name], P]) -> None:
        self._names = names
        self._summarise = summarise
        self._made: dict[Name, P] = {}

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

    def take_on(self, before: Summaries[P], changed: Collection[Name]) -> bool:
        """Take the summaries of the release before, but for the ``changed`` names; whether those are equal too."""
        made = {**before._made, **self._made}
        for name in changed:
            if name in made and name not in self._made:
                del made[name]
        self._made = made
        return all(
            (name in before) == (name in self) and (name not in before._made or before._made[name] == self[name])
            for name in changed
        )


def take_on(after: W, before: W) -> None:
    """Give ``after`` everything that ``before`` has worked out and keeps."""
    for kind in type(before).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, cached_property) and name in vars(before):
                vars(after).setdefault(name, vars(before)[name])
