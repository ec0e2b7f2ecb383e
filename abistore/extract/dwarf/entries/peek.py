"""Single attributes of an entry, read without decoding the others."""

from __future__ import annotations

from typing import Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
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
