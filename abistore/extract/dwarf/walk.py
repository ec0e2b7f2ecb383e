"""Walking the entries of a unit: their ranges, scopes and single attributes.

One pass over the namespaces finds the entries that describe exports. Nothing below namespace scope is visited: records
and functions are skipped by DW_AT_sibling where it is recorded, else entry by entry without decoding.
A scope is ``(outer scope, name)``; it holds from its position in ``starts`` up to the next one. A container is a record
or function that may hold scopes of its own.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.abbreviations import (
    ENUM,
    FUNCTION,
    LEAF,
    NAMESPACE,
    RECORD,
    UNPLACED,
    VARIABLE,
    Abbreviation,
)
from abistore.extract.dwarf.encoding import SIZE_CODES, Attributes, MalformedDwarf
from abistore.extract.dwarf.units import WIDE_LENGTH, Unit

INDEXED = frozenset({dw.OP_ADDRX, dw.OP_GNU_ADDR_INDEX, dw.OP_CONSTX, dw.OP_GNU_CONST_INDEX})
ADDRESSES = frozenset({dw.OP_ADDR, dw.OP_ADDRX, dw.OP_GNU_ADDR_INDEX})
TLS = frozenset({dw.OP_FORM_TLS_ADDRESS, dw.OP_GNU_PUSH_TLS_ADDRESS})
CONSTANTS = {dw.OP_CONST4U: 4, dw.OP_CONST8U: 8}


def place(location: bytes, unit: Unit) -> tuple[Literal["variable", "tls"], int] | None:
    """The address, or the offset in the thread's block, that ``location`` names; ``None`` where it is computed."""
    if not location:
        return None
    operator = location[0]
    if operator in INDEXED:
        index, position = dw.unsigned(location, 1)
        value = unit.indexed_address(index)
    elif operator == dw.OP_ADDR or operator in CONSTANTS:
        position = 1 + (unit.address_size if operator == dw.OP_ADDR else CONSTANTS[operator])
        if len(location) < position:
            return None
        value = int.from_bytes(location[1:position], unit.order)
    elif operator == dw.OP_CONSTU:
        value, position = dw.unsigned(location, 1)
    else:
        return None
    is_tls = False
    while position < len(location):
        following = location[position]
        position += 1
        if following == dw.OP_PLUS_UCONST:
            more, position = dw.unsigned(location, position)
            value += more
        elif following in TLS:
            is_tls = True
        else:
            return None
    if is_tls:
        return "tls", unit.indexed_tls_offset(value) if operator in INDEXED else value
    return ("variable", value) if operator in ADDRESSES else None


END, BASE_X, START_X_END_X, START_X_LENGTH, OFFSET_PAIR, BASE, START_END, START_LENGTH = range(8)
"""The kinds of entries in .debug_rnglists."""

MOST_RANGES: Final = 1 << 20
"""Bound on the ranges of one entry."""

Range: TypeAlias = tuple[int, int]
"""A first address, and a number of bytes."""


def within(ranges: Iterable[Range], addresses: Sequence[int]) -> Iterator[int]:
    """Those of sorted ``addresses`` that lie in some of ``ranges``."""
    for first, length in ranges if addresses else ():
        index = bisect_left(addresses, first)
        while index < len(addresses) and addresses[index] - first < length:
            yield addresses[index]
            index += 1


def ranges_of(unit: Unit, offset: int) -> Iterator[tuple[int, int]]:
    """The ranges (first address, address after the last) of an entry whose DW_AT_ranges is ``offset``."""
    if unit.version < 5:
        return _old_ranges(unit, offset + unit.ranges_offset)
    return _range_list(unit, offset)


def _old_ranges(unit: Unit, position: int) -> Iterator[tuple[int, int]]:
    data = unit.shared.read("ranges")
    size = unit.address_size
    pair = struct.Struct(unit.format.prefix + 2 * SIZE_CODES[size])
    escape = (1 << 8 * size) - 1
    base = unit.low_pc
    while True:
        start, end = pair.unpack_from(data, position)
        position += pair.size
        if start == end == 0:
            return
        if start == escape:
            base = end
        elif start < end:
            yield start + base, end + base


def _range_list(unit: Unit, position: int) -> Iterator[tuple[int, int]]:
    data, size = unit.sections.read("rnglists"), unit.address_size
    base = unit.low_pc

    def address(position: int) -> tuple[int, int]:
        return int.from_bytes(data[position : position + size], unit.order), position + size

    def indexed(position: int) -> tuple[int, int]:
        index, position = dw.unsigned(data, position)
        return unit.indexed_address(index), position

    for _ in range(MOST_RANGES):
        kind = data[position]
        position += 1
        if kind == END:
            return
        if kind in (BASE, BASE_X):
            base, position = address(position) if kind == BASE else indexed(position)
            continue
        if kind == OFFSET_PAIR:
            start, position = dw.unsigned(data, position)
            end, position = dw.unsigned(data, position)
            start, end = start + base, end + base
        elif kind == START_END:
            start, position = address(position)
            end, position = address(position)
        elif kind == START_X_END_X:
            start, position = indexed(position)
            end, position = indexed(position)
        elif kind in (START_LENGTH, START_X_LENGTH):
            start, position = address(position) if kind == START_LENGTH else indexed(position)
            length, position = dw.unsigned(data, position)
            end = start + length
        else:
            raise MalformedDwarf(f"unknown kind {kind} of range list entry")
        if start < end:
            yield start, end
    raise MalformedDwarf("a range list has no end")


def unit_ranges(unit: Unit) -> Iterator[tuple[int, int]]:
    """The ranges that the root entry of a loaded unit gives."""
    root = unit.root
    if dw.AT_RANGES in root:
        yield from ranges_of(unit, root[dw.AT_RANGES])
    elif unit.low_pc < unit.high_pc:
        yield unit.low_pc, unit.high_pc


def read_aranges(data: bytes, prefix: str, fault: Callable[[str], None]) -> Iterator[tuple[int, list[Range]]]:
    """The sets of .debug_aranges that hold code: the unit's offset in .debug_info, and the ranges."""
    position = 0
    try:
        while position < len(data):
            position, unit, ranges = _aranges_set(data, position, prefix)
            if any(length for _, length in ranges):
                yield unit, ranges
    except (struct.error, MalformedDwarf) as error:
        fault(f".debug_aranges ends early at {position:#x} ({error})")


def _aranges_set(data: bytes, position: int, prefix: str) -> tuple[int, int, list[Range]]:
    """The position after a set, its unit's offset, and its ranges: the last one is empty, which ends the set."""
    start, offset = position, "I"
    length: int = struct.unpack_from(prefix + "I", data, position)[0]
    position += 4
    if length == WIDE_LENGTH:
        (length,) = struct.unpack_from(prefix + "Q", data, position)
        position += 8
        offset = "Q"
    end = position + length
    header = struct.Struct(f"{prefix}H{offset}BB")
    _, unit, address_size, segment_size = header.unpack_from(data, position)
    if address_size not in SIZE_CODES or segment_size or not position < end <= len(data):
        raise MalformedDwarf("bad header")
    position += header.size
    step = 2 * address_size
    position = start + -(-(position - start) // step) * step
    pairs = struct.iter_unpack(prefix + 2 * SIZE_CODES[address_size], data[position : end - (end - position) % step])
    return end, unit, list(pairs)


Die: TypeAlias = tuple[Unit, Abbreviation, int, Attributes]
"""An entry that was decoded: unit, abbreviation, position after its attributes, attributes."""


ANY: Final = range(1 << 16)
"""All tags (DWARF 5, section 7.5.3)."""

NONE: Final[frozenset[int]] = frozenset()


def skip(abbreviation: Abbreviation, position: int, unit: Unit) -> int:
    """The position of the next sibling of the entry whose code ends at ``position``."""
    data = unit.data
    if abbreviation.size >= 0:
        return position + abbreviation.size
    place = abbreviation.sibling_place
    if place >= 0:
        sibling = unit.handle - unit.base + unit.word(data, position + place)[0]
        return sibling if position < sibling <= unit.limit else unit.forward(unit.base + sibling, position)
    if not abbreviation.has_children or abbreviation.leads:
        return abbreviation.next(data, position, unit)
    end = unit.ends.get(position)
    if end is None:
        end = unit.ends[position] = _end(first_child(abbreviation, position, unit), unit)
    return end


def first_child(abbreviation: Abbreviation, position: int, unit: Unit) -> int:
    """The position after the attributes of the entry whose code ends at ``position``."""
    if abbreviation.extent >= 0:
        return position + abbreviation.extent
    if abbreviation.leads:
        return abbreviation.decode(unit.data, position, unit)[0]
    return abbreviation.next(unit.data, position, unit)


def _end(position: int, unit: Unit) -> int:
    """The position after the list of entries at ``position``, which says nowhere how long it is."""
    data, table, steps = unit.data, unit.table, unit.steps(NONE)
    depth = 1
    while depth:
        code = data[position]
        while step := steps[code]:
            position += step
            code = data[position]
        position += 1
        if not code:
            depth -= 1
            continue
        if code > 127:
            more = data[position]
            if more > 127:
                code, position = dw.unsigned(data, position - 1)
            else:
                code += (more << 7) - 128
                position += 1
        abbreviation = table[code]
        if abbreviation.size >= 0:
            if code < 128:
                steps[code] = 1 + abbreviation.size
            position += abbreviation.size
            continue
        position = abbreviation.next(data, position, unit)
        if abbreviation.opens:
            depth += 1
    if position > unit.limit:
        raise MalformedDwarf("an entry ends outside its unit")
    return position


def tagged(unit: Unit, position: int, tags: Container[int]) -> Iterator[tuple[int, Abbreviation, int]]:
    """The entries from ``position`` to the end of their list that have one of ``tags``: other leaves cost nothing.

    Yields the handle, the abbreviation and the position after the code.
    """
    data, table, base, limit, word = unit.data, unit.table, unit.base, unit.limit, unit.word
    offset = unit.handle - base
    steps = unit.steps(tags)
    while True:
        code = data[position]
        while step := steps[code]:
            position += step
            code = data[position]
        start, position = position, position + 1
        if code > 127:
            code, position = dw.unsigned(data, start)
        if not code:
            return
        if start >= limit:
            raise MalformedDwarf("a list of entries ends outside its unit")
        abbreviation = table[code]
        size = abbreviation.size
        if abbreviation.tag in tags:
            yield base + start, abbreviation, position
        elif size >= 0 and code < 128:
            steps[code] = 1 + size
        if size >= 0:
            position += size
        elif abbreviation.sibling_place >= 0:
            sibling = offset + word(data, position + abbreviation.sibling_place)[0]
            position = sibling if position < sibling <= limit else unit.forward(base + sibling, position)
        elif abbreviation.opens:
            position = skip(abbreviation, position, unit)
        else:
            position = abbreviation.next(data, position, unit)


def children(unit: Unit, position: int) -> Iterator[tuple[int, Abbreviation, int]]:
    """All entries from ``position`` to the end of their list, as :func:`tagged` gives them."""
    return tagged(unit, position, ANY)


def parts(die: Die, tags: Container[int]) -> Iterator[tuple[int, int, Attributes]]:
    """Handle, tag and attributes of each child of a DIE that has one of ``tags``."""
    unit, abbreviation, position, _ = die
    if abbreviation.has_children:
        data = unit.data
        for handle, child, after in tagged(unit, position, tags):
            yield handle, child.tag, child.decode(data, after, unit)[1]


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


Scope: TypeAlias = tuple[str | int, ...]
"""Outermost first: the name of a namespace, or the handle of a record or function."""

CONTAINERS = frozenset({*dw.RECORD_TAGS, dw.TAG_SUBPROGRAM, dw.TAG_NAMESPACE})
SCOPES = CONTAINERS | {dw.TAG_LEXICAL_BLOCK, dw.TAG_INLINED_SUBROUTINE}
"""These and what may hold types inside a function without being a scope by name."""


class ScopeContainer(msgspec.Struct, frozen=True):
    """A record or function: the scope inside of it, and where the containers and blocks directly in it begin."""

    scope: Scope
    starts: list[int]


class Scopes:
    """The enclosing scopes of entries in scanned units, remembered."""

    def __init__(self) -> None:
        self._namespaces: dict[tuple[int, int], Scope] = {}
        self._containers: dict[int, ScopeContainer] = {}
        self._ends: dict[int, int] = {}

    def of(self, unit: Unit, position: int) -> Scope:
        """The scope of the entry at ``position``."""
        index = bisect_right(unit.starts, position) - 1
        scope = self._namespaces.get((unit.handle, index))
        if scope is None:
            scope = self._namespaces[unit.handle, index] = _flatten(unit.scopes[index])
        starts, first = unit.containers, unit.starts[index]
        while True:
            nearest = bisect_right(starts, position) - 1
            if nearest < 0 or not first <= starts[nearest] < position < self._end(unit, starts[nearest]):
                return scope
            inner = self._container(unit, starts[nearest], scope)
            scope, starts = inner.scope, inner.starts

    def _end(self, unit: Unit, start: int) -> int:
        """The position after the entry at ``start``."""
        handle = unit.base + start
        end = self._ends.get(handle)
        if end is None:
            end = self._ends[handle] = skip(*unit.at(start), unit)
        return end

    def _container(self, unit: Unit, start: int, outer: Scope) -> ScopeContainer:
        """The entry at ``start``, which is inside of ``outer``."""
        handle = unit.base + start
        found = self._containers.get(handle)
        if found is None:
            abbreviation, position = unit.at(start)
            inside = tagged(unit, first_child(abbreviation, position, unit), SCOPES)
            found = self._containers[handle] = ScopeContainer(
                (*outer, handle) if abbreviation.tag in CONTAINERS else outer,
                [place - unit.base for place, child, _ in inside if child.has_children],
            )
        return found


def inline_namespaces(units: Iterable[Unit]) -> set[str]:
    """The inline namespaces in scanned units, qualified, without those in namespaces that no other file names."""
    scopes = (_flatten(scope) for unit in units if unit.is_scanned for scope in unit.inline)
    return {"::".join(map(str, scope)) for scope in scopes if "(anonymous namespace)" not in scope}


def _flatten(link: Any) -> Scope:
    names: list[str] = []
    while link is not None:
        link, name = link
        names.append(name)
    names.reverse()
    return tuple(names)


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
            code, position = dw.unsigned(data, start)
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
    location = abbreviation.decode(unit.data, position, unit)[1][dw.AT_LOCATION]
    where = place(location, unit) if type(location) is bytes else None
    if where is None:
        return ()
    kind, value = where
    return ((kind, value, handle),) if value in exported[kind == "tls"] else ()
