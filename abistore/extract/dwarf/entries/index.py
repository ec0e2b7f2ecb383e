"""An index of the definitions of records and enums in all units, by plain name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MALFORMED, describe
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.peek import name_at
from abistore.extract.dwarf.entries.units import Unit


def index_definitions(
    units: Iterable[Unit], attributes: Callable[[int], Attributes], fault: Callable[[str], None]
) -> dict[str, list[int]]:
    """The handles of the definitions at namespace scope of scanned units, by DW_AT_name, in the order of the units.

    A definition that carries only DW_AT_specification is listed under the name of its declaration.
    """
    index: dict[str, list[int]] = {}
    for unit in units:
        try:
            _add_unit(unit, attributes, index)
        except MALFORMED as error:
            fault(f"the unit at {unit.handle:#x}: {describe(error)}")
    return index


def _add_unit(unit: Unit, attributes: Callable[[int], Attributes], index: dict[str, list[int]]) -> None:
    for start in unit.classes:
        abbreviation, position = unit.at(start)
        name = name_at(unit, abbreviation, position)
        if not name and dw.AT_SPECIFICATION in abbreviation.attributes:
            declaration = abbreviation.decode(unit.data, position, unit)[1][dw.AT_SPECIFICATION]
            name = attributes(declaration).get(dw.AT_NAME, "")
        if name:
            index.setdefault(name, []).append(unit.base + start)
