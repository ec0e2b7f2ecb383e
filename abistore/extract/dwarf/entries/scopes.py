"""The scope of an entry: its enclosing namespaces by name, its records and functions by handle."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import first_child, skip, tagged

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
