"""How classes go by value as far as their parts decide, where no compiler says it (Itanium C++ ABI, 3.1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.references import embedded
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Record

DEEPEST: Final = 100
"""How many records deep parts are looked at."""

Passing: TypeAlias = Literal["value", "reference"]


def settle_passing(entries: Mapping[Name, list[AnyShape]], producers: Iterable[str]) -> None:
    """Classes whose own members are trivial go as what they embed and derive from does; unknown where that is.

    Only where Clang, which tells it, had no part in the library: records without a convention are C structs then.
    """
    if any("clang" in each for each in producers):
        return
    settled = _Settled(entries)
    for shapes in [shapes for name, shapes in entries.items() if name.kind == "record"]:
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and shape.passing == "value":
                shapes[index] = replace(shape, passing=settled.parts(shape, 0))


class _Settled:
    """How each name goes by value; worked out once."""

    def __init__(self, entries: Mapping[Name, list[AnyShape]]) -> None:
        self._entries = entries
        self._known: dict[Name, Passing | None] = {}

    def parts(self, shape: AnyShape, depth: int) -> Passing | None:
        """How ``shape`` goes as far as its parts decide."""
        found = {self._of(each, depth + 1) for each in embedded(shape)}
        return "reference" if "reference" in found else None if None in found else "value"

    def _of(self, name: Name, depth: int) -> Passing | None:
        if name not in self._known:
            self._known[name] = self._told(self._entries.get(name, []), depth) if depth < DEEPEST else None
        return self._known[name]

    def _told(self, shapes: Sequence[AnyShape], depth: int) -> Passing | None:
        match shapes:
            case [Record(passing="reference")]:
                return "reference"
            case [(Record() | Alias()) as shape]:
                return self.parts(shape, depth)
            case [Enum() | Foreign(sort="enum")]:
                return "value"
            case _:
                return None
