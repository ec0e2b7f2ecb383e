"""Enumerations and constants of the library's own headers that no exported declaration names.

A program passes them as plain numbers: ``enum { LOG_DEBUG = 1 }; void set_level(int level);``
An enumeration without any name is called by its first enumerator, and a constant is one of a single value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MALFORMED
from abistore.extract.dwarf.bytes.forms import EMPTY, SIZES, Attributes, fixed_forms
from abistore.extract.dwarf.shapes.records import fit, read_enum
from abistore.extract.types.foreign import is_foreign
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.names import Name, unnamed_enum
from abistore.model.shapes import Enum, Enumerator, Inline, Primitive
from abistore.model.snapshot import Location
from abistore.model.words.files import is_own_header

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
    from abistore.extract.dwarf.entries.units import Unit
    from abistore.extract.dwarf.shapes.types import TypeReferences

BEGINNING: Final = 5
"""So many bytes behind an enumeration hold the code of its first enumerator, and where the name of that is."""

WIDEST: Final = 16
"""The size of the largest integer in bytes."""

ALIASES: Final = frozenset({dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})

MOST_ALIASES: Final = 100
"""Bound on aliases of aliases."""

NUMBERS: Final = frozenset({*INTEGERS, "bool"})

FILE_NAMESPACE: Final = "(anonymous namespace)"


class OwnConstants:
    """Enters what the headers of the library define, each once: all units that include a header repeat it."""

    def __init__(self, types: TypeReferences) -> None:
        self._types = types
        self._seen: set[object] = set()
        self._unnamed: list[tuple[Name, Enum, Location]] = []
        self._lines: dict[Abbreviation, tuple[int, int]] = {}
        self._known = {name.spelling for name in types.entries if name.kind == "enum"}
        self._spelled_out = frozenset(types.anonymous.spelled_out)

    def read(self) -> None:
        """Enters all enumerations and constants at namespace scope, and the enumerations of classes that were read."""
        types = self._types
        for unit in types.info.units:
            if unit.is_scanned:
                try:
                    for handle in self._fresh(unit):
                        self._enter(handle)
                except MALFORMED:  # the scan of this unit has recorded what is wrong with it
                    continue
        for handle in types.nested:
            self._enter(handle)
        while types.pending or types.reconsider():
            found, handle = types.pending.pop()
            types.add(found, read_enum(types, types.info.die(handle)))
        named = {(place, *types.entries[name]) for name, place in types.locations.items() if name.kind == "enum"}
        for name, shape, place in self._unnamed:
            if (place, shape) not in named:  # in another unit, a typedef names it
                types.add(name, shape)
                types.locations.setdefault(name, place)

    def _fresh(self, unit: Unit) -> Iterator[int]:
        """The enumerations and constants of a unit that no unit before it has."""
        data, seen, base = unit.data, self._seen, unit.base
        for start in unit.constants:
            abbreviation, position = unit.at(start)
            if abbreviation not in self._lines:
                self._lines[abbreviation] = _line_place(abbreviation)
            line, size = self._lines[abbreviation]
            key: object = base + start
            if size:
                place, end = abbreviation.name_place, position + abbreviation.extent
                name = data[position + place : position + place + 4] if place >= 0 else b""
                begin = data[end + 1 : end + BEGINNING] if abbreviation.has_children else b""
                key = name, data[position + line : position + line + size], begin
            if key not in seen:
                seen.add(key)
                yield base + start

    def _enter(self, handle: int) -> None:
        types = self._types
        die = types.info.die(handle)
        unit, abbreviation, _, attributes = die
        if dw.AT_DECLARATION in attributes and dw.AT_CONST_VALUE not in attributes:
            return
        value = attributes.get(dw.AT_CONST_VALUE, 0)
        if attributes.get(dw.AT_NAME) in self._known or (type(value) is bytes and len(value) > WIDEST):
            return
        file, line = types.locate(unit, attributes)
        if not is_own_header(file):
            return
        if abbreviation.tag == dw.TAG_ENUMERATION_TYPE:
            spelling = types.spellings.of(handle, attributes)
            if spelling is not None and (spelling in self._known or not self._is_own(spelling)):
                return
            mention = types.reference(handle)
            shape = mention.shape if isinstance(mention, Inline) else None
            if isinstance(shape, Enum) and shape.enumerators and shape not in self._spelled_out:
                self._add(handle, shape.enumerators[0].name, shape, Location(file, line))
        elif (constant := self._constant(unit, attributes)) is not None:
            self._add(handle, constant.enumerators[0].name, constant, Location(file, line))

    def _is_own(self, spelling: str) -> bool:
        return FILE_NAMESPACE not in spelling and not is_foreign(spelling, self._types.runtime)

    def _add(self, handle: int, first: str, shape: Enum, place: Location) -> None:
        """Enters an enumeration without a name."""
        spelling = self._types.spellings.qualify(handle, first)
        if self._is_own(spelling):
            self._unnamed.append((unnamed_enum(spelling), shape, place))

    def _constant(self, unit: Unit, attributes: Attributes) -> Enum | None:
        """A constant integer as an enumeration of one value; ``None`` for any other object."""
        value, type = attributes.get(dw.AT_CONST_VALUE), self._integer(attributes)
        if type is None or dw.AT_NAME not in attributes:
            return None
        bits = 8 * type.size
        if isinstance(value, bytes):
            value = int.from_bytes(value, unit.order)
        if not isinstance(value, int):
            return None
        value = fit(value & ((1 << bits) - 1), bits, self._types.is_signed(attributes))
        return Enum(type.size, (Enumerator(attributes[dw.AT_NAME], value),), type)

    def _integer(self, attributes: Attributes) -> Primitive | None:
        """The built-in type of a constant integer, behind aliases; ``None`` for any other object."""
        is_constant = False
        for _ in range(MOST_ALIASES):
            handle = attributes.get(dw.AT_TYPE, -1)
            if handle < 0:
                return None
            _, abbreviation, _, attributes = self._types.info.die(handle)
            is_constant = is_constant or abbreviation.tag == dw.TAG_CONST_TYPE
            if abbreviation.tag == dw.TAG_BASE_TYPE:
                found = self._types.reference(handle) if is_constant else None
                return found if isinstance(found, Primitive) and found.spelling in NUMBERS else None
            if abbreviation.tag not in ALIASES:
                return None
        return None


def _line_place(abbreviation: Abbreviation) -> tuple[int, int]:
    """Where the line of an entry of fixed size is, counted from its code's end, and its size; 0 where not known."""
    fixed, place = fixed_forms(abbreviation.format), 0
    for attribute, form, _ in abbreviation.specifications if abbreviation.extent >= 0 else ():
        size = SIZES[fixed[form]] if form not in EMPTY else 0
        if attribute == dw.AT_DECL_LINE:
            return place, size
        place += size
    return 0, 0
