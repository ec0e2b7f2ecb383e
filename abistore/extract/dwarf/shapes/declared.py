"""What the units that call exported functions tell: the header that declares one, and the records it does not need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MALFORMED
from abistore.extract.dwarf.entries.peek import parameter_types, symbol_at
from abistore.extract.dwarf.entries.walk import Die
from abistore.extract.dwarf.names.spellings import C
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Location
from abistore.model.words.files import include_root, is_own_header, is_source

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.units import Unit
    from abistore.extract.dwarf.shapes.types import TypeReferences


FOLLOWED: Final = frozenset({dw.TAG_POINTER_TYPE, dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})


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
    handles, seen = set[Name](), set[int]()
    for symbol, location, die in _declared(types, [unit for unit in types.info.units if unit.is_scanned], wanted):
        found.setdefault(symbol, set()).add(location)
        handles.update(_undefined(types, die, seen))
    _mark(types, handles)
    for symbol, locations in found.items():
        place = min(locations, key=lambda each: (include_root(each[0]) is None, each))
        places[wanted[symbol]] = Location(*place)


def _declared(
    types: TypeReferences, units: Iterable[Unit], wanted: Collection[str]
) -> Iterator[tuple[str, tuple[str, int], Die]]:
    for unit in units:
        try:
            for symbol, die in _declarations(unit, wanted):
                location = types.locate(unit, die[3])
                if is_own_header(location[0]):
                    yield symbol, location, die
        except MALFORMED:  # the scan of this unit has recorded what is wrong with it
            continue


def _declarations(unit: Unit, wanted: Collection[str]) -> Iterator[tuple[str, Die]]:
    for start in (*unit.declared, *unit.unplaced):
        abbreviation, position = unit.at(start)
        if (
            abbreviation.is_declaration
            and abbreviation.tag == dw.TAG_SUBPROGRAM
            and dw.AT_DECL_FILE in abbreviation.attributes
        ):
            symbol = symbol_at(unit, abbreviation, position)
            if symbol in wanted:
                after, attributes = abbreviation.decode(unit.data, position, unit)
                yield symbol, (unit, abbreviation, after, attributes)


def _undefined(types: TypeReferences, die: Die, seen: set[int]) -> Iterator[Name]:
    """The records behind pointers that a function takes or returns, of which its unit has a declaration only.

    Those behind types that were ``seen`` were told before.

    What the unit includes is all that calls need. In C++ this tells nothing: compilers leave the definition of a class
    to the unit that has its constructors or its vtable.
    """
    if die[0].language not in C:
        return
    for handle in (die[3].get(dw.AT_TYPE, -1), *parameter_types(die)):
        while handle >= 0 and handle not in seen:
            seen.add(handle)
            _, abbreviation, _, attributes = types.info.die(handle)
            tag = abbreviation.tag
            if tag in dw.RECORD_TAGS and dw.AT_DECLARATION in attributes and dw.AT_SIGNATURE not in attributes:
                spelling = types.spellings.of(handle, attributes)
                if spelling is not None:
                    yield Name("record", spelling)
            handle = attributes.get(dw.AT_TYPE, -1) if tag in FOLLOWED else -1


def _mark(types: TypeReferences, handles: Iterable[Name]) -> None:
    for name in handles:
        shapes = types.entries.get(name, [])
        shapes[:] = [replace(each, handle=True) if isinstance(each, Record) else each for each in shapes]
