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
SCOPES = CONTAINERS | {dw.TAG_LEXICAL_BLOCK, dw.TAG_INLINED_SUBROUTINE}
"""These and what may hold types inside a function without being a scope by name."""


class Scopes:
    """The enclosing scopes of entries in scanned units, remembered."""

    def __init__(self) -> None:
        self._flat: dict[tuple[int, int], Scope] = {}
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, int] = {}

    def of(self, unit: Unit, position: int) -> Scope:
        """The scope of the entry at ``position``."""
        index = bisect_right(unit.starts, position) - 1
        key = (unit.handle, index)
        outer = self._flat.get(key)
        if outer is None:
            outer = self._flat[key] = _flatten(unit.scopes[index])
        if outer and type(outer[-1]) is int:
            starts = self._inside(unit, outer[-1] - unit.base)
            nearest = bisect_right(starts, position) - 1
            if nearest < 0 or starts[nearest] == position:
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
            starts = self._inside(unit, container)
            index = bisect_right(starts, position) - 1
            if index < 0 or starts[index] == position or self._end(unit, starts[index]) <= position:
                return
            container = starts[index]
            if unit.table[leb.unsigned(unit.data, container)[0]].tag in CONTAINERS:
                yield unit.base + container

    def _inside(self, unit: Unit, container: int) -> list[int]:
        """Where the scopes directly inside the entry at ``container`` begin."""
        key = unit.base + container
        starts = self._starts.get(key)
        if starts is None:
            code, position = leb.unsigned(unit.data, container)
            abbreviation = unit.table[code]
            position, _ = abbreviation.decode(unit.data, position, unit)
            found = children(unit, position) if abbreviation.has_children else ()
            starts = self._starts[key] = [
                handle - unit.base for handle, child, _ in found if child.has_children and child.tag in SCOPES
            ]
        return starts


def _flatten(link: Any) -> Scope:
    names: list[str | int] = []
    while link is not None:
        link, name = link
        names.append(name)
    names.reverse()
    return tuple(names)
