"""The headers that declare exported functions, from the units that call them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MALFORMED
from abistore.extract.dwarf.entries.peek import symbol_at
from abistore.model.files import include_root, is_own_header, is_source
from abistore.model.mangling.symbols import is_mangled
from abistore.model.snapshot import Location

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.units import Unit
    from abistore.extract.dwarf.shapes.types import TypeReferences


def locate_declarations(types: TypeReferences) -> None:
    """Moves the places of functions that a source file defines to a header that declares them, where one is known.

    Of several headers it is one in an ``include`` folder, else the first by path. Where the library has no such folder,
    headers tell something of C functions only. Nothing is looked for in the C++ runtime, all of which is public.
    """
    places = types.locations
    if types.runtime:
        return
    plain = all(include_root(place.file) is None for place in places.values())
    wanted = {
        name.spelling: name
        for name, place in places.items()
        if name.kind == "function" and is_source(place.file) and not (plain and is_mangled(name.spelling))
    }
    if not wanted:
        return
    found: dict[str, set[tuple[str, int]]] = {}
    for symbol, location in _declared(types, [unit for unit in types.info.units if unit.is_scanned], wanted):
        found.setdefault(symbol, set()).add(location)
    for symbol, locations in found.items():
        place = min(locations, key=lambda each: (include_root(each[0]) is None, each))
        places[wanted[symbol]] = Location(*place)


def _declared(
    types: TypeReferences, units: Iterable[Unit], wanted: Collection[str]
) -> Iterator[tuple[str, tuple[str, int]]]:
    for unit in units:
        try:
            for symbol, values in _declarations(unit, wanted):
                location = types.locate(unit, values)
                if is_own_header(location[0]):
                    yield symbol, location
        except MALFORMED:  # the scan of this unit has recorded what is wrong with it
            continue


def _declarations(unit: Unit, wanted: Collection[str]) -> Iterator[tuple[str, dict[int, int]]]:
    for start in (*unit.declared, *unit.unplaced):
        abbreviation, position = unit.at(start)
        if (
            abbreviation.is_declaration
            and abbreviation.tag == dw.TAG_SUBPROGRAM
            and dw.AT_DECL_FILE in abbreviation.attributes
        ):
            symbol = symbol_at(unit, abbreviation, position)
            if symbol in wanted:
                yield symbol, abbreviation.decode(unit.data, position, unit)[1]
