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


class Portraits(Mapping[Name, P], Generic[P]):
    """Of each declaration the part that some question about the whole library depends on, drawn when it is looked at.

    A whole that looks at portraits only is the same for two releases if all portraits that it looked at are.
    """

    def __init__(self, names: Mapping[Name, object], draw: Callable[[Name], P]) -> None:
        self._names = names
        self._draw = draw
        self._drawn: dict[Name, P] = {}

    def __getitem__(self, name: Name) -> P:
        found = self._drawn.get(name)
        if found is None:
            found = self._drawn[name] = self._draw(name)
        return found

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def take_on(self, before: Portraits[P], changed: Collection[Name]) -> bool:
        """Take the portraits of a release before, other than of the ``changed`` names; whether those are alike too."""
        drawn = {**before._drawn, **self._drawn}
        for name in changed:
            if name in drawn and name not in self._drawn:
                del drawn[name]
        self._drawn = drawn
        return all(
            (name in before) == (name in self) and (name not in before._drawn or before._drawn[name] == self[name])
            for name in changed
        )


def take_on(after: W, before: W) -> None:
    """Give ``after`` everything that ``before`` has worked out and keeps."""
    for kind in type(before).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, cached_property) and name in vars(before):
                vars(after).setdefault(name, vars(before)[name])
