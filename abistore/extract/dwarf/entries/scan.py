"""One pass over the namespaces of a unit finds the entries that describe exports, and where scopes begin.

Nothing below namespace scope is visited: records and functions are stepped over by DW_AT_sibling where it is recorded,
else entry by entry without decoding.
A scope is ``(outer scope, name)``; it holds from its position in ``starts`` up to the next one. A container is a record
or function that may hold scopes of its own.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Literal, TypeAlias

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.abbreviations import (
    ENUM,
    FUNCTION,
    LEAF,
    NAMESPACE,
    RECORD,
    UNPLACED,
    VARIABLE,
    Abbreviation,
)
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries import locations
from abistore.extract.dwarf.entries.ranges import ranges_of
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import skip

Found: TypeAlias = tuple[Literal["function", "variable", "tls"], int, int]
"""An entry at an exported place: what it is, its address or TLS offset, its handle."""

DEEPEST = 1000
"""Bound on nested namespaces."""


def scan_namespaces(unit: Unit, addresses: Container[int], tls_offsets: Container[int], found: list[Found]) -> None:
    """Fills the scopes, classes and containers of a loaded unit, and appends to ``found`` what lies at an export."""
    data, table, base, limit = unit.data, unit.table, unit.base, unit.limit
    classes, containers, reference, offset = unit.classes, unit.containers, unit.word, unit.handle - base
    stack, scope = list[Any](), None
    steps = [0] * 256  # by first byte: the size of an entry that is a leaf, once one was met
    position = unit.top
    while position < limit:
        code = data[position]
        while step := steps[code]:
            position += step
            code = data[position]
        start, position = position, position + 1
        if code > 127:
            code, position = leb.unsigned(data, start)
        if not code:
            if not stack:
                break
            scope = _begin(unit, position, stack.pop())
            continue
        abbreviation = table[code]
        kind = abbreviation.kind
        if kind == LEAF:
            if code < 128:
                steps[code] = 1 + abbreviation.size
            position += abbreviation.size
            continue
        if kind >= RECORD:
            if not abbreviation.is_declaration:
                classes.append(start)
            if kind == ENUM:
                unit.constants.append(start)
            elif abbreviation.has_children:
                containers.append(start)
        elif kind == FUNCTION:
            if abbreviation.has_children:
                containers.append(start)
            if abbreviation.is_declaration:
                unit.declared.append(start)
            if abbreviation.is_nameable:
                unit.nameable.append(start)
            if abbreviation.has_code:
                found.extend(_function(abbreviation, position, unit, addresses, base + start))
        elif kind == NAMESPACE:
            position, scope = _enter(abbreviation, position, unit, stack, scope)
            continue
        elif kind == VARIABLE:
            found.extend(_variable(abbreviation, position, unit, (addresses, tls_offsets), base + start))
        elif kind >= UNPLACED:
            (unit.unplaced if kind == UNPLACED else unit.constants).append(start)
        place = abbreviation.sibling_place
        if place >= 0:
            position = reference(data, position + place)[0] + offset
            if position <= start:
                raise MalformedDwarf(f"the entry at {start:#x} has a sibling before itself")
        elif abbreviation.opens:
            position = skip(abbreviation, position, unit)
        else:
            position = abbreviation.next(data, position, unit)


def _begin(unit: Unit, position: int, scope: Any) -> Any:
    """Notes that ``scope`` holds from ``position`` on."""
    unit.starts.append(position)
    unit.scopes.append(scope)
    return scope


def _enter(abbreviation: Abbreviation, position: int, unit: Unit, stack: list[Any], outer: Any) -> tuple[int, Any]:
    """The position after the attributes of a namespace, and the scope there. Notes where its entries begin, if any."""
    position, values = abbreviation.decode(unit.data, position, unit)
    if not abbreviation.has_children:
        return position, outer
    stack.append(outer)
    scope = _namespace(values, outer, len(stack))
    if dw.AT_EXPORT_SYMBOLS in abbreviation.attributes:
        unit.inline.append(scope)
    return position, _begin(unit, position, scope)


def _namespace(values: Attributes, outer: Any, depth: int) -> Any:
    """The scope inside a namespace."""
    if depth > DEEPEST:
        raise MalformedDwarf("namespaces are nested without end")
    return outer, values.get(dw.AT_NAME) or "(anonymous namespace)"


def _function(
    abbreviation: Abbreviation, position: int, unit: Unit, addresses: Container[int], handle: int
) -> tuple[Found, ...]:
    """The function as found, if it begins, or one of its ranges does, at an exported address."""
    if abbreviation.address_place >= 0:
        (first,) = unit.address(unit.data, position + abbreviation.address_place)
        return (("function", first, handle),) if first in addresses else ()
    _, values = abbreviation.decode(unit.data, position, unit)
    if dw.AT_LOW_PC in values:
        starts = [values[dw.AT_LOW_PC]]
    else:
        starts = [first for first, _ in ranges_of(unit, values[dw.AT_RANGES])]
    return tuple(("function", first, handle) for first in starts if first in addresses)[:1]


def _variable(
    abbreviation: Abbreviation,
    position: int,
    unit: Unit,
    exported: tuple[Container[int], Container[int]],
    handle: int,
) -> tuple[Found, ...]:
    """The variable as found, if it lies at an exported address or TLS offset."""
    location = abbreviation.decode(unit.data, position, unit)[1][dw.AT_LOCATION]
    where = locations.place(location, unit) if type(location) is bytes else None
    if where is None:
        return ()
    kind, value = where
    return ((kind, value, handle),) if value in exported[kind == "tls"] else ()
