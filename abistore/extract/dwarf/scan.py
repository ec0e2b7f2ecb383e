"""One pass over the namespace scope of a unit: which entries describe exports, and where scopes begin and end.

Nothing below namespace scope is visited: records and functions are stepped over by DW_AT_sibling where it is recorded,
else entry by entry without decoding.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from typing import Any, Literal, TypeAlias

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf import leb, locations
from abistore.extract.dwarf.abbreviations import (
    ENUM,
    FUNCTION,
    LEAF,
    NAMESPACE,
    NEXT,
    RECORD,
    SIBLING,
    VARIABLE,
    Abbreviation,
)
from abistore.extract.dwarf.faults import Malformed
from abistore.extract.dwarf.forms import SIZE_CODES
from abistore.extract.dwarf.ranges import ranges_of
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import skip

Found: TypeAlias = tuple[Literal["function", "variable", "tls"], int, int]
"""An entry at an exported place: what it is, its address or TLS offset, its handle."""

DEEPEST = 1000
"""Bound on nested namespaces."""


def scan_namespaces(unit: Unit, addresses: Container[int], tls_offsets: Container[int], found: list[Found]) -> None:
    """Fills the scopes, classes and functions of a loaded unit, and appends to ``found`` what lies at an export.

    A scope is ``(outer scope, name or handle)``; it holds from its position in ``starts`` up to the next one.
    """
    unit.is_scanned = True
    data, table, base = unit.data, unit.table, unit.base
    starts = unit.starts = [unit.position]
    scopes: list[Any] = [None]
    unit.scopes = scopes
    classes = unit.classes = []
    functions = unit.functions = []
    stack: list[Any] = []
    scope: Any = None
    prefix = unit.format.prefix
    reference = struct.Struct(prefix + "I").unpack_from
    address = struct.Struct(prefix + SIZE_CODES[unit.address_size]).unpack_from
    address_expression = 1 + unit.address_size
    offset = unit.handle - base
    position, limit = unit.top, unit.limit
    while position < limit:
        start = position
        code = data[position]
        position += 1
        if code > 127:
            code, position = leb.unsigned(data, start)
        if not code:
            if not stack:
                break
            scope = stack.pop()
            starts.append(position)
            scopes.append(scope)
            continue
        abbreviation = table[code]
        kind = abbreviation.kind
        if kind == LEAF:
            position += abbreviation.size
        elif kind == SIBLING:
            position = reference(data, position + abbreviation.size)[0] + offset
            if position <= start:
                raise Malformed(f"the entry at {start:#x} has a sibling before itself")
        elif kind == NEXT:
            position = abbreviation.next(data, position, unit)
        elif kind == FUNCTION:
            place = abbreviation.address_place
            if place >= 0:
                (value,) = address(data, position + place)
                if value in addresses:
                    found.append(("function", value, base + start))
            elif abbreviation.has_code:
                entry = _entry(abbreviation, position, unit, addresses)
                if entry is not None:
                    found.append(("function", entry, base + start))
            if abbreviation.has_children:
                functions.append(start)
                if abbreviation.size >= 0:
                    position = reference(data, position + abbreviation.size)[0] + offset
                    if position <= start:
                        raise Malformed(f"the entry at {start:#x} has a sibling before itself")
                    continue
            position = skip(abbreviation, position, unit)
        elif kind == RECORD:
            if not abbreviation.is_declaration:
                classes.append(start)
            if abbreviation.has_children:
                starts.append(position)
                scopes.append((scope, base + start))
                position = skip(abbreviation, position, unit)
                starts.append(position)
                scopes.append(scope)
            else:
                position = abbreviation.next(data, position, unit)
        elif kind == VARIABLE:
            after, values = abbreviation.decode(data, position, unit)
            location = values[dw.AT_LOCATION]
            if type(location) is bytes:
                if len(location) == address_expression and location[0] == dw.OP_ADDR:
                    (value,) = address(location, 1)
                    if value in addresses:
                        found.append(("variable", value, base + start))
                else:
                    where = locations.place(location, unit)
                    if where is not None and where[1] in (addresses if where[0] == "variable" else tls_offsets):
                        found.append((*where, base + start))
            position = skip(abbreviation, position, unit) if abbreviation.has_children else after
        elif kind == NAMESPACE:
            position, values = abbreviation.decode(data, position, unit)
            if abbreviation.has_children:
                stack.append(scope)
                if len(stack) > DEEPEST:
                    raise Malformed("namespaces are nested without end")
                scope = (scope, values.get(dw.AT_NAME) or "(anonymous namespace)")
                starts.append(position)
                scopes.append(scope)
        else:
            if kind == ENUM and not abbreviation.is_declaration:
                classes.append(start)
            position = skip(abbreviation, position, unit)


def _entry(abbreviation: Abbreviation, position: int, unit: Unit, addresses: Container[int]) -> int | None:
    """The exported address among a function's first address and the starts of its ranges."""
    _, values = abbreviation.decode(unit.data, position, unit)
    value = values.get(dw.AT_LOW_PC)
    if type(value) is int:
        return value if value in addresses else None
    ranges = values.get(dw.AT_RANGES)
    if type(ranges) is not int:
        return None
    return next((first for first, _ in ranges_of(unit, ranges) if first in addresses), None)
