"""Single attributes of an entry, read without decoding the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import Die, tagged

PARAMETERS: Final = frozenset({dw.TAG_FORMAL_PARAMETER})


def name_at(unit: Unit, abbreviation: Abbreviation, position: int) -> str:
    """The name of the entry whose code ends at ``position``; empty where it has none."""
    if abbreviation.name_place >= 0:
        return unit.strings[unit.offset(unit.data, position + abbreviation.name_place)[0]]
    if dw.AT_NAME not in abbreviation.attributes:
        return ""
    name: str = abbreviation.decode(unit.data, position, unit)[1][dw.AT_NAME]
    return name


def symbol_at(unit: Unit, abbreviation: Abbreviation, position: int) -> str:
    """The linkage name of the entry whose code ends at ``position``, or its name where it has none."""
    if abbreviation.symbol_place >= 0:
        return unit.strings[unit.offset(unit.data, position + abbreviation.symbol_place)[0]]
    attributes = abbreviation.decode(unit.data, position, unit)[1]
    symbol: str = attributes.get(dw.AT_LINKAGE_NAME) or attributes.get(dw.AT_NAME, "")
    return symbol


def type_at(unit: Unit, abbreviation: Abbreviation, position: int) -> int:
    """The handle of the type of the entry whose code ends at ``position``; -1 where it has none."""
    if abbreviation.type_place >= 0:
        return unit.handle + unit.word(unit.data, position + abbreviation.type_place)[0]
    handle: int = abbreviation.decode(unit.data, position, unit)[1].get(dw.AT_TYPE, -1)
    return handle


def parameter_types(function: Die) -> list[int]:
    """The handles of the types of a function's parameters, without its object; -1 where one records none."""
    unit, abbreviation, position, _ = function
    return [
        type_at(unit, child, after)
        for _, child, after in (tagged(unit, position, PARAMETERS) if abbreviation.has_children else ())
        if dw.AT_ARTIFICIAL not in child.attributes
    ]


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
