"""Unnamed records and enums: named by their first typedef, or spelled out where they are used."""

from __future__ import annotations

from itertools import islice
from typing import Final

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.peek import type_at
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import Die, children, tagged
from abistore.extract.dwarf.shapes.records import read_enum, read_record
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.model.shapes import Enum, Inline, TypeRef

UNNAMED: Final = "(anonymous class)"
NAMING: Final = frozenset({dw.AT_NAME, dw.AT_SPECIFICATION, dw.AT_SIGNATURE, dw.AT_LINKAGE_NAME})
SEARCHED: Final = frozenset({dw.TAG_TYPEDEF, dw.TAG_NAMESPACE})


class AnonymousNames:
    """Finds the names of types that have none of their own, one scope at a time and only where one is met.

    ``spelled_out`` are the enumerations without any name.
    """

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._typedefs: dict[int, dict[int, int]] = {}
        self._open: set[int] = set()
        self.spelled_out: set[Enum] = set()

    def reference(self, handle: int, die: Die) -> TypeRef:
        """The mention of the anonymous type ``handle``."""
        typedef = self._first_typedef(handle, die[0])
        if typedef is not None:
            named = self._define(typedef, handle, die)
            if named is not None:
                return named
        return self._inline(handle, die)

    def named_by(self, typedef: int, attributes: Attributes) -> TypeRef | None:
        """The mention of an anonymous type that ``typedef`` gives its name; ``None`` where it names no such type."""
        target = attributes.get(dw.AT_TYPE, -1)
        if target < 0:
            return None
        _, abbreviation, _ = self._types.info.entry(target)
        if abbreviation.tag not in dw.COMPOSITE_TAGS or not NAMING.isdisjoint(abbreviation.attributes):
            return None
        die = self._types.info.die(target)
        if self._first_typedef(target, die[0]) not in (typedef, None):
            return None
        return self._define(typedef, target, die)

    def scope_name(self, handle: int) -> str:
        """How an anonymous class is spelled as the scope of others."""
        die = self._types.info.die(handle)
        typedef = self._first_typedef(handle, die[0])
        name = None if typedef is None else self._types.spellings.of(typedef, self._types.info.die(typedef)[3])
        if name is not None:
            return name
        return self._types.spellings.qualify(handle, UNNAMED)

    def _define(self, typedef: int, handle: int, die: Die) -> TypeRef | None:
        spelling = self._types.spellings.of(typedef, self._types.info.die(typedef)[3])
        return None if spelling is None else self._types.define(spelling, handle, die)

    def _inline(self, handle: int, die: Die) -> TypeRef:
        if handle in self._open:  # only reachable through members of its own members
            return self._types.references.special("enclosing unnamed type")
        self._open.add(handle)
        try:
            read = read_enum if die[1].tag == dw.TAG_ENUMERATION_TYPE else read_record
            shape = read(self._types, die)
            if isinstance(shape, Enum):
                self.spelled_out.add(shape)
            elif shape.sort == "class":  # of a closure, where GCC writes a structure
                shape = replace(shape, sort="struct")
            return self._types.references.inline(Inline(shape))
        finally:
            self._open.discard(handle)

    # --- typedefs -------------------------------------------------------------------------------------------------

    def _first_typedef(self, handle: int, unit: Unit) -> int | None:
        """The first typedef of ``handle`` in its own scope; ``None`` where it has none."""
        neighbour = self._next(handle, unit)
        if neighbour is not None and self._target(neighbour, unit) == handle:
            return neighbour
        scope = self._types.info.scope(handle)
        within = scope[-1] if scope and isinstance(scope[-1], int) else unit.handle
        table = self._typedefs.get(within)
        if table is None:
            table = self._typedefs[within] = {}
            self._collect(unit, unit.top if within == unit.handle else self._types.info.die(within)[2], table)
        return table.get(handle)

    def _next(self, handle: int, unit: Unit) -> int | None:
        """The sibling after ``handle``."""
        siblings = children(unit, handle - unit.base)
        return next((sibling for sibling, _, _ in islice(siblings, 1, 2)), None)

    def _target(self, handle: int, unit: Unit) -> int:
        """What ``handle`` is a typedef of; -1 where it is something else."""
        _, abbreviation, position = self._types.info.entry(handle)
        return type_at(unit, abbreviation, position) if abbreviation.tag == dw.TAG_TYPEDEF else -1

    def _collect(self, unit: Unit, position: int, table: dict[int, int]) -> None:
        """Adds the typedefs from ``position`` on, by what they are of; namespaces included."""
        for handle, child, after in tagged(unit, position, SEARCHED):
            if child.tag == dw.TAG_TYPEDEF:
                table.setdefault(type_at(unit, child, after), handle)
            elif child.has_children:
                self._collect(unit, child.decode(unit.data, after, unit)[0], table)
