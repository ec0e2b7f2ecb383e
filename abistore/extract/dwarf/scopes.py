"""What encloses an entry: namespaces by name, records and functions by handle."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, TypeAlias

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf import leb
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import children, skip

Scope: TypeAlias = tuple[str | int, ...]
"""Outermost first: the name of a namespace, or the handle of a record or function."""

CONTAINERS = frozenset({*dw.RECORD_TAGS, dw.TAG_SUBPROGRAM, dw.TAG_NAMESPACE})
BLOCKS = frozenset({dw.TAG_LEXICAL_BLOCK, dw.TAG_INLINED_SUBROUTINE})
"""What may hold types inside a function without being a scope by name."""


class Scopes:
    """The enclosing scopes of entries in scanned units, remembered."""

    def __init__(self) -> None:
        self._flat: dict[tuple[int, int], Scope] = {}
        self._extents: dict[int, tuple[list[int], list[int], list[bool]]] = {}
        self._ends: dict[int, int] = {}

    def of(self, unit: Unit, position: int) -> Scope:
        """The scope of the entry at ``position``."""
        index = bisect_right(unit.starts, position) - 1
        key = (unit.handle, index)
        outer = self._flat.get(key)
        if outer is None:
            outer = self._flat[key] = _flatten(unit.scopes[index])
        if outer and type(outer[-1]) is int:
            extents = self._extents.get(outer[-1])
            if extents is not None and not extents[0]:
                return outer
            return outer + tuple(self._within(unit, outer[-1] - unit.base, position))
        functions = unit.functions
        nearest = bisect_right(functions, position) - 1
        if nearest >= 0 and unit.starts[index] <= functions[nearest] < position:
            function = functions[nearest]
            if position < self._end(unit, function):
                return (*outer, unit.base + function, *self._within(unit, function, position))
        return outer

    def _end(self, unit: Unit, position: int) -> int:
        end = self._ends.get(unit.base + position)
        if end is None:
            code, after = leb.unsigned(unit.data, position)
            end = self._ends[unit.base + position] = skip(unit.table[code], after, unit)
        return end

    def _within(self, unit: Unit, container: int, position: int) -> Iterator[int]:
        while True:
            starts, ends, named = self._extents_of(unit, container)
            index = bisect_right(starts, position) - 1
            if index < 0 or starts[index] == position or ends[index] <= position:
                return
            container = starts[index]
            if named[index]:
                yield unit.base + container

    def _extents_of(self, unit: Unit, container: int) -> tuple[list[int], list[int], list[bool]]:
        """Where the scopes directly inside the entry at ``container`` start and end, and which of them are named."""
        key = unit.base + container
        extents = self._extents.get(key)
        if extents is None:
            extents = self._extents[key] = ([], [], [])
            code, position = leb.unsigned(unit.data, container)
            abbreviation = unit.table[code]
            position, _ = abbreviation.decode(unit.data, position, unit)
            if abbreviation.has_children:
                for handle, child, after in children(unit, position):
                    if child.has_children and (child.tag in CONTAINERS or child.tag in BLOCKS):
                        extents[0].append(handle - unit.base)
                        extents[1].append(skip(child, after, unit))
                        extents[2].append(child.tag in CONTAINERS)
        return extents


def _flatten(link: Any) -> Scope:
    names: list[str | int] = []
    while link is not None:
        link, name = link
        names.append(name)
    names.reverse()
    return tuple(names)
