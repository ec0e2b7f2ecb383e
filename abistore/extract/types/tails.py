"""What programs may place in the padding at the end of classes, as far as all their parts decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from abistore.model.layout.tails import is_open_by_parts
from abistore.model.names import Name
from abistore.model.references import embedded
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Record

DEEPEST: Final = 100
"""How many records deep parts are looked at."""

Tail: TypeAlias = Literal["open", "closed"]


def settle_tails(entries: Mapping[Name, list[AnyShape]], is_padded: Callable[[Name, Record], bool]) -> None:
    """Records have the tail that they and what they embed give them, and none where they have no padding there.

    Readers note ``closed`` where nobody wrote a special member.
    """
    settled = _Settled(entries)
    for name, shapes in [(name, shapes) for name, shapes in entries.items() if name.kind == "record"]:
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and shape.tail is not None:
                padded = shape.sort != "union" and is_padded(name, shape)
                shapes[index] = replace(shape, tail=settled.of(shape, 0) if padded else None)


class _Settled:
    """How the tail of each name is; worked out once, from what readers noted."""

    def __init__(self, entries: Mapping[Name, list[AnyShape]]) -> None:
        self._noted = {name: tuple(shapes) for name, shapes in entries.items()}
        self._known: dict[Name, Tail | None] = {}

    def of(self, shape: Record, depth: int) -> Tail | None:
        """The tail of a record; ``None`` where it is not known."""
        if is_open_by_parts(shape):
            return "open"
        if shape.tail != "closed":
            return shape.tail
        found = {self._named(each, depth + 1) for each in embedded(shape)}
        return "open" if "open" in found else None if None in found else "closed"

    def _named(self, name: Name, depth: int) -> Tail | None:
        if name not in self._known:
            self._known[name] = None  # ends a type that embeds itself
            self._known[name] = self._told(name, depth) if depth < DEEPEST else None
        return self._known[name]

    def _told(self, name: Name, depth: int) -> Tail | None:
        match self._noted.get(name, ()):
            case (Record() as shape,):
                return self.of(shape, depth)
            case (Alias() as shape,):
                found = {self._named(each, depth + 1) for each in embedded(shape)}
                return "open" if "open" in found else None if None in found else "closed"
            case (Enum() | Foreign(sort="enum"),):
                return "closed"
            case _:
                return None
