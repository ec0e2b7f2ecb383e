"""Checks of snapshots from outside: no empty qualifier, negative size, or number too large for a database.

What passes them can be spelled, drawn, compared, stored and judged.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from abistore.errors import SnapshotError
from abistore.model import shapes
from abistore.model.names import TYPES, Name
from abistore.model.snapshot import Evidence, Location, Provenance
from abistore.model.structure import held, is_struct

LARGEST: Final = 1 << 63
"""What counts, sizes and lines stay below: databases hold no more."""

WIDEST: Final = 1 << 70
"""What numbers of a declaration stay below: 64 bits, told in bits."""

QUALIFIERS: Final = frozenset({"atomic", "const", "restrict", "volatile", "&", "&&"})

SIGNED: Final = frozenset({(shapes.Enumerator, "value")})
"""Numbers of any sign and width."""


class Sound:
    """Checks structs and all that they hold; equal types are checked once."""

    def __init__(self) -> None:
        self._known: set[shapes.Node] = set()

    def check(self, struct: msgspec.Struct, place: str) -> None:
        """Raise :class:`SnapshotError` where ``struct``, which stands at ``place``, says what nothing can say."""
        try:
            self._check(struct)
        except _Unsound as error:
            raise SnapshotError(f"malformed snapshot: {place}: {error}") from error

    def _check(self, struct: msgspec.Struct) -> None:
        if isinstance(struct, shapes.Node):
            if struct in self._known:
                return
            self._known.add(struct)
        for field, form in _asked(type(struct)):
            value = getattr(struct, field)
            if value is None or value == () or value is msgspec.UNSET:
                if form == "qualifiers" and isinstance(struct, shapes.Qualified):
                    raise _Unsound(f"{field} has 'nothing' among its words, which is no qualifier")
                continue
            for one in value if isinstance(value, tuple) else (value,):
                if form == "part":
                    self._part(one, field)
                elif why := _why_not(struct, form, one):
                    raise _Unsound(f"{field} {why}")

    def _part(self, struct: msgspec.Struct, field: str) -> None:
        try:
            self._check(struct)
        except _Unsound as error:
            raise _Unsound(f"{field}: {error}") from None


class _Unsound(Exception):
    """What is wrong, and in which field."""


def _why_not(struct: msgspec.Struct, form: str, value: Any) -> str:
    """Why a field cannot have this value; empty where it can."""
    match form:
        case "number":
            most = LARGEST if isinstance(struct, Evidence | Location | Provenance) else WIDEST
            return "" if 0 <= value < most else f"is not a number from 0 to {most - 1}: {str(value)[:60]}"
        case "qualifiers":
            return "" if value in QUALIFIERS else f"has {value[:60]!r} among its words, which is no qualifier"
        case "type name":
            return "" if value.kind in TYPES and value.spelling else f"is {str(value)[:60]!r}, which is no type"
    return ""


@cache
def _asked(struct: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The fields of a class that are asked about, and what each is."""
    found = ((field, _form(struct, field, classes)) for field, classes in held(struct).items())
    return tuple((field, form) for field, form in found if form)


def _form(struct: type[msgspec.Struct], field: str, classes: tuple[Any, ...]) -> str:
    if field == "qualifiers":
        return "qualifiers"
    if int in classes:
        return "" if (struct, field) in SIGNED else "number"
    if Name in classes:
        return "type name"
    return "part" if any(map(is_struct, classes)) else ""
