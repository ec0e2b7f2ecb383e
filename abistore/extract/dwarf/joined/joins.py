"""Joins declarations with their definitions in other units."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.entries.walk import parts
from abistore.extract.dwarf.names.spellings import CPP
from abistore.extract.types.foreign import is_foreign
from abistore.model.names import Name
from abistore.model.shapes import Foreign, Opaque

if TYPE_CHECKING:
    from abistore.extract.dwarf.joined.undescribed import ShownMembers
    from abistore.extract.dwarf.shapes.types import TypeReferences


class DeclarationJoins:
    """Finds what a unit only declares: at namespace scope of another, or in another copy of the enclosing class.

    GCC emits a nested class in full only in the units that use it, and a class with a key function only where that is.
    """

    def __init__(self, types: TypeReferences) -> None:
        self._types = types
        self._tried: set[Name] = set()
        self._opaque: dict[Name, Opaque] = {}

    @cached_property
    def _has_cpp(self) -> bool:
        """Whether a unit is of C++; the records of C have no members but their fields."""
        return any(unit.language in CPP for unit in self._types.info.units)

    @cached_property
    def _members(self) -> ShownMembers:
        from abistore.extract.dwarf.joined.undescribed import ShownMembers  # C++ alone

        return ShownMembers(self._types)

    def next_round(self) -> bool:
        """Looks for the definitions of names that were newly declared; whether there were any."""
        types = self._types
        fresh = [name for name in types.declared if name not in self._tried and not types.is_defined(name)]
        self._tried.update(fresh)
        for name in fresh:
            handle, found = types.declared[name].handle, False
            for definition in self._definitions(handle):
                types.reference(definition)
                found = True
                if name in types.foreign:
                    break
            if not found and name.kind == "record" and self._has_cpp:
                self._opaque[name] = self._members.shape(name, "class", handle)
        return bool(fresh)

    def close(self) -> None:
        """Enters what is declared and defined nowhere: opaque, or foreign without a size."""
        types = self._types
        undefined = {name: each for name, each in types.declared.items() if not types.is_defined(name)}
        needed = self._needed() if undefined else ()
        for name, declared in undefined.items():
            sort = min(declared.sorts)
            if is_foreign(name.spelling, types.runtime):
                types.add(name, Foreign(sort, None, None))
            else:
                shown = self._opaque.get(name, Opaque(sort))
                types.add(name, replace(shown, sort=sort, defined=shown.defined or name in needed))

    def _needed(self) -> Collection[Name]:
        """The types of objects, which units of C++ cannot do without."""
        if not self._has_cpp:
            return ()
        from abistore.extract.dwarf.joined.undescribed import needed_whole  # C++ alone

        return needed_whole(self._types.entries)

    def _definitions(self, handle: int) -> Iterator[int]:
        """The definitions of what ``handle`` declares."""
        types, info = self._types, self._types.info
        attributes = info.attributes(handle)
        spelling = types.spellings.of(handle, attributes)
        while dw.AT_NAME not in attributes and attributes.get(dw.AT_SPECIFICATION, -1) >= 0:
            handle = attributes[dw.AT_SPECIFICATION]
            attributes = info.attributes(handle)
        plain = attributes.get(dw.AT_NAME)
        if plain is None:
            return
        for candidate in info.definitions(plain):
            if types.spellings.of(candidate, info.attributes(candidate)) == spelling:
                yield candidate
        scope = info.scope(handle)
        if scope and isinstance(scope[-1], int):
            for enclosing in self._definitions(scope[-1]):
                found = self._member(enclosing, plain)
                if found is not None:
                    yield found
                    return

    def _member(self, enclosing: int, plain: str) -> int | None:
        """The definition of the type ``plain`` among the members of a class."""
        for handle, _, attributes in parts(self._types.info.die(enclosing), dw.COMPOSITE_TAGS):
            if attributes.get(dw.AT_NAME) == plain and dw.AT_DECLARATION not in attributes:
                return handle
        return None
