"""What the fields of shapes may hold, as their annotations tell."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from abistore.model import shapes


@cache
def held(struct: type[msgspec.Struct]) -> Mapping[str, tuple[Any, ...]]:
    """The classes that each field may hold: those of a union, those of the items of a tuple."""
    names = {"Facet": str, **vars(shapes)}
    hints = typing.get_type_hints(struct, names)
    return {field: tuple(_plain(hints[field])) for field in struct.__struct_fields__}


def is_struct(held: Any) -> bool:
    """Whether what a field may hold is a struct."""
    return isinstance(held, type) and issubclass(held, msgspec.Struct)


def _plain(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType, tuple):
        for each in typing.get_args(hint):
            yield from _plain(each)
    else:
        yield hint
