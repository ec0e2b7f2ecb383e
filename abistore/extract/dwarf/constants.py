"""Enumerations and constants of the library's own headers that no exported declaration names.

A program passes them as plain numbers: ``enum { LOG_DEBUG = 1 }; void set_level(int level);``
An enumeration without any name is called by its first enumerator, and a constant is one of a single value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

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
        self._places: dict[Abbreviation, ConstantPlaces] = {}
        self._own_files: dict[tuple[int, int], bool] = {}
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
        """The enumerations and constants of a unit that no unit before it has, and that stand in an own header."""
        data, seen, base = unit.data, self._seen, unit.base
        for start in unit.constants:
            abbreviation, position = unit.at(start)
            places = self._places.get(abbreviation)
            if places is None:
                places = self._places[abbreviation] = _places(abbreviation)
            key: object = base + start
            entry = data[position : position + abbreviation.extent + BEGINNING] if abbreviation.extent >= 0 else b""
            if places.line is not None:
                place = abbreviation.name_place
                name = entry[place : place + 4] if place >= 0 else b""
                key = name, entry[places.line], entry[abbreviation.extent + 1 :] if abbreviation.has_children else b""
            if key not in seen:
                seen.add(key)
                file = places.file
                if isinstance(file, slice):
                    file = int.from_bytes(entry[file], unit.order)
                if file is None or self._is_own_file(unit, file):
                    yield base + start

    def _is_own_file(self, unit: Unit, index: int) -> bool:
        key = unit.handle, index
        if key not in self._own_files:
            self._own_files[key] = is_own_header(self._types.info.file(unit, index))
        return self._own_files[key]

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


class ConstantPlaces(msgspec.Struct, frozen=True):
    """Where the line of an entry is, counted from its code's end, and where its file is, or what it always is."""

    line: slice | None = None
    file: slice | int | None = None


def _places(abbreviation: Abbreviation) -> ConstantPlaces:
    """The places in an entry of fixed size; none in any other."""
    fixed, place, places = fixed_forms(abbreviation.format), 0, dict[int, slice | int]()
    for attribute, form, value in abbreviation.specifications if abbreviation.extent >= 0 else ():
        if form == dw.FORM_IMPLICIT_CONST:
            places[attribute] = value
        elif form not in EMPTY:
            places[attribute] = slice(place, place := place + SIZES[fixed[form]])
    line = places.get(dw.AT_DECL_LINE)
    return ConstantPlaces(line if isinstance(line, slice) else None, places.get(dw.AT_DECL_FILE))
