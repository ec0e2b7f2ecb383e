"""Single attributes of an entry, read without decoding the others."""

from __future__ import annotations

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
from abistore.extract.dwarf.entries.units import Unit


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
