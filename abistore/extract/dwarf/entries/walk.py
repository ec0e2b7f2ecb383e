"""Walking the entries of a loaded unit; what is skipped is not decoded."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final, TypeAlias

from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.units import Unit

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
                code, position = leb.unsigned(data, position - 1)
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
            code, position = leb.unsigned(data, start)
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
