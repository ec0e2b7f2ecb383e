"""Casts in what macros stand for: ``((geo_kind) 3)`` is a number of the type that ``geo_kind`` is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from abistore.extract.headers.walk.collected import Collected
from abistore.model.names import Name
from abistore.model.shapes import Alias, Enum, Named, Primitive, TypeRef

DEEPEST: Final = 64
"""A chain of aliases longer than this is not followed."""


def plainly_cast(found: Sequence[str], numbers: Mapping[str, str]) -> Iterator[str]:
    """The tokens ``found``, with the built-in type in a cast to one that has another name: ``(unsigned int) 3``."""
    place = 0
    while place < len(found):
        named = next((each for each in found[place + 1 : place + 3] if each != "enum"), "")
        for cast in (("(", named, ")"), ("(", "enum", named, ")")):
            if named in numbers and tuple(found[place : place + len(cast)]) == cast:
                yield from ("(", *numbers[named].split(), ")")
                place += len(cast)
                break
        else:
            yield found[place]
            place += 1


def numbers(found: Collected) -> Mapping[str, str]:
    """The enumerations, and other names of built-in types, with what each is."""
    types: dict[str, str] = {}
    for name in found.shapes:
        plain = _plain(Named(name), found) if name.kind in ("alias", "enum") else None
        if plain is not None:
            types[name.spelling] = plain
    return types


def _plain(type: TypeRef | None, found: Collected) -> str | None:
    for _ in range(DEEPEST):
        if isinstance(type, Primitive):
            return type.spelling
        shape = _shape(type.name, found) if isinstance(type, Named) else None
        if not isinstance(shape, Alias | Enum):
            return None
        type = shape.target if isinstance(shape, Alias) else shape.underlying
    return None


def _shape(name: Name, found: Collected) -> object:
    shapes = found.shapes.get(name, [])
    return shapes[0] if len(shapes) == 1 else None
