"""What no declaration can say: an empty qualifier, a negative size, a number that no database holds.

Asked of what comes from outside, so that whatever was let in can be spelled, drawn, compared, stored and judged.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec

from abistore.errors import SnapshotError
from abistore.model import shapes
from abistore.model.names import Name
from abistore.model.snapshot import Evidence, Location, Provenance

LARGEST: Final = 1 << 63
"""What counts, sizes and lines stay below: databases hold no more."""

WIDEST: Final = 1 << 70
"""What numbers of a declaration stay below: 64 bits, told in bits."""

QUALIFIERS: Final = frozenset({"atomic", "const", "restrict", "volatile", "&", "&&"})
TYPES: Final = frozenset({"alias", "enum", "record"})

SIGNED: Final = frozenset({(shapes.Enumerator, "value")})
"""Numbers of any sign and width."""


def check(struct: msgspec.Struct, place: str) -> None:
    """Raise :class:`SnapshotError` where ``struct``, which stands at ``place``, says what nothing can say.

    What it mentions as a row of its own was asked about before; what it holds is asked about with it.
    """
    for field, form in _asked(type(struct)):
        value = getattr(struct, field)
        if value is None:
            continue
        each = value if isinstance(value, tuple) and form != "qualifiers" else (value,)
        for one in each:
            if why := _why_not(struct, form, one):
                raise SnapshotError(f"malformed snapshot: {place}: {field} {why}")
            if form == "part":
                check(one, f"{place}: {field}")


def _why_not(struct: msgspec.Struct, form: str, value: Any) -> str:
    """Why a field cannot have this value; empty where it can."""
    match form:
        case "number":
            most = LARGEST if isinstance(struct, Evidence | Location | Provenance) else WIDEST
            return "" if 0 <= value < most else f"is not a number from 0 to {most - 1}: {str(value)[:60]}"
        case "qualifiers":
            odd = next((word for word in value if word not in QUALIFIERS), None)
            if odd is not None or (isinstance(struct, shapes.Qualified) and not value):
                return f"has {str(odd or 'nothing')[:60]!r} among its words, which is no qualifier"
        case "type name":
            return "" if value.kind in TYPES and value.spelling else f"is {str(value)[:60]!r}, which is no type"
    return ""


@cache
def _asked(struct: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The fields of a class that are asked about, and what each is."""
    names = {"Facet": typing.Literal["symbol", "layout", "source"], **vars(shapes)}
    hints = typing.get_type_hints(struct, names)
    found = ((field, _form(struct, field, hints[field])) for field in struct.__struct_fields__)
    return tuple((field, form) for field, form in found if form)


def _form(struct: type[msgspec.Struct], field: str, hint: Any) -> str:
    if field == "qualifiers":
        return "qualifiers"
    for plain in _plain(hint):
        if plain is int and (struct, field) not in SIGNED:
            return "number"
        if plain is Name:
            return "type name"
        if isinstance(plain, type) and issubclass(plain, msgspec.Struct) and not issubclass(plain, shapes.Node):
            return "part"
    return ""


def _plain(hint: Any) -> Iterator[Any]:
    """The classes that a field may hold: those of a union, those of the items of a tuple."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, tuple):
        for each in typing.get_args(hint):
            yield from _plain(each)
    else:
        yield hint
