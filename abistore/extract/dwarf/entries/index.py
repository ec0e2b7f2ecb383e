"""An index of the definitions of records and enums in all units, by plain name."""

from __future__ import annotations

from collections.abc import Callable

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.peek import name_at
from abistore.extract.dwarf.entries.units import Unit


def add_definitions(unit: Unit, attributes: Callable[[int], Attributes], index: dict[str, list[int]]) -> None:
    """Enters the definitions at namespace scope of a scanned unit, by DW_AT_name: a handle each.

    A definition that carries only DW_AT_specification is listed under the name of its declaration.
    """
    for start in unit.classes:
        abbreviation, position = unit.at(start)
        name = name_at(unit, abbreviation, position)
        if not name and dw.AT_SPECIFICATION in abbreviation.attributes:
            declaration = abbreviation.decode(unit.data, position, unit)[1][dw.AT_SPECIFICATION]
            name = attributes(declaration).get(dw.AT_NAME, "")
        if name:
            index.setdefault(name, []).append(unit.base + start)
