"""How classes are passed by value, from the special members that GCC describes: it records no calling convention.

A class goes by the address of a copy where its destructor, copy or move constructor is not trivial, or where it cannot
be copied nor moved (Itanium C++ ABI, 3.1.1); else as its members do.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf.signatures import read_signature
from abistore.model.names import Name
from abistore.model.normal import last_component
from abistore.model.reach import embedded
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Named, Pointer, Qualified, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from abistore.extract.dwarf.destructors import Entries
    from abistore.extract.dwarf.types import Die, Types

PRODUCER: Final = re.compile(r"GNU C\+\+\S* (\d+)\.")
OLDEST: Final = 8
"""The first GCC that tells which members are defaulted in their class, and so may be trivial."""

IN_CLASS: Final = 1
"""DW_DEFAULTED_in_class."""

DEEPEST: Final = 100
"""How many records deep parts are looked at."""

Passing: TypeAlias = Literal["value", "reference"]


@cache
def tells_defaulted(producer: str | None) -> bool:
    """Whether a compiler lists the special members that each class declares, and which of them are defaulted.

    The latter is an attribute of DWARF 5, which older versions hold unless they are strict.
    """
    match = PRODUCER.match(producer or "")
    return match is not None and int(match[1]) >= OLDEST and "-gstrict-dwarf" not in match.string


class SpecialMembers:
    """The special members that one class declares itself."""

    def __init__(self, types: Types, die: Die) -> None:
        self._types = types
        self._name = str(die[3].get(dw.AT_NAME, "")).partition("<")[0]
        self._provided = False
        self._deleted = False
        self._usable = False

    def add(self, die: Die) -> None:
        """Takes note of a member function, if it is a destructor, copy or move constructor."""
        attributes = die[3]
        name = attributes.get(dw.AT_NAME, "")
        destructor = name.startswith("~")
        if dw.AT_ARTIFICIAL in attributes or not (destructor or (name == self._name and self._takes_own(die))):
            return
        if dw.AT_DELETED in attributes:
            self._deleted |= not destructor
        elif attributes.get(dw.AT_DEFAULTED) != IN_CLASS:
            self._provided = True
        else:
            self._usable |= not destructor

    @property
    def by_reference(self) -> bool:
        """Whether what the class declares makes it go by the address of a copy."""
        return self._provided or (self._deleted and not self._usable)

    def _takes_own(self, die: Die) -> bool:
        match read_signature(self._types, die).parameters:
            case (Pointer(target=Named(name) | Qualified(target=Named(name)), sort="&" | "&&"),):
                return last_component(name.spelling) == self._name
            case _:
                return False


def settle_passing(entries: Entries, producers: Iterable[str]) -> None:
    """Classes whose own members are trivial go as what they embed and derive from does; unknown where that is.

    Only where Clang, which tells it, had no part in the library: records without a convention are C structs then.
    """
    if any("clang" in each for each in producers):
        return
    settled = _Settled(entries)
    for shapes in entries.values():
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and shape.passing == "value":
                shapes[index] = replace(shape, passing=settled.parts(shape, 0))


class _Settled:
    """How each name goes by value; worked out once."""

    def __init__(self, entries: Entries) -> None:
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
