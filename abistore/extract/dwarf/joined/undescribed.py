"""What units show of the classes that none of them describes.

Compilers describe a class with a vtable where that is emitted (GCC), or one with constructors where these are (Clang).
Other units declare it, with the members that they define or call. It is no handle: they know its definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MALFORMED
from abistore.extract.dwarf.entries.peek import name_at
from abistore.extract.dwarf.entries.walk import Die, children
from abistore.extract.dwarf.names.spellings import CPP
from abistore.extract.dwarf.shapes.records import TEMPLATE_PARAMETERS, RecordMembers
from abistore.model.names import Name
from abistore.model.references import embedded
from abistore.model.shapes import Alias, AnyShape, Function, Named, Opaque, Record, Variable, VirtualMethod

if TYPE_CHECKING:
    from abistore.extract.dwarf.shapes.types import TypeReferences
    from abistore.model.shapes import Sort


class ShownMembers:
    """Reads the members that declarations of classes have, in all units that were scanned."""

    def __init__(self, types: TypeReferences) -> None:
        self._types = types

    def shape(self, name: Name, sort: Sort, handle: int) -> Opaque:
        """The class ``name``, which ``handle`` declares and no unit describes."""
        defined = False
        virtuals: dict[tuple[str, str], VirtualMethod] = {}
        plain = self._types.info.attributes(handle).get(dw.AT_NAME, "")
        for each in dict.fromkeys((handle, *self._index.get(plain, ()))):
            try:
                die = self._types.info.die(each)
                if self._shows(each, die, name):
                    defined = defined or _is_known(die)
                    for method in RecordMembers(self._types, die).read_virtuals():
                        virtuals.setdefault((method.display, method.symbol), method)
            except MALFORMED:  # the scan of this unit has recorded what is wrong with it
                continue
        return Opaque(sort, defined, tuple(sorted(virtuals.values(), key=_place)))

    def _shows(self, handle: int, die: Die, name: Name) -> bool:
        """Whether an entry declares the class ``name`` in C++ and has members."""
        unit, abbreviation, _, attributes = die
        shows = abbreviation.has_children and dw.AT_SIGNATURE not in attributes
        return shows and unit.language in CPP and self._types.spellings.of(handle, attributes) == name.spelling

    @cached_property
    def _index(self) -> Mapping[str, list[int]]:
        """The declarations that have members, by the names of their classes."""
        found: dict[str, list[int]] = {}
        for unit in self._types.info.units:
            for start in unit.containers if unit.is_scanned and unit.language in CPP else ():
                abbreviation, position = unit.at(start)
                if abbreviation.is_declaration and abbreviation.tag in dw.RECORD_TAGS:
                    found.setdefault(name_at(unit, abbreviation, position), []).append(unit.base + start)
        return found


def _is_known(die: Die) -> bool:
    """Whether a unit knows the definition of a class that it declares.

    GCC lists template arguments of complete instances only; Clang may list those of any.
    """
    unit, _, position, _ = die
    by_gcc = (unit.producer or "").startswith("GNU")
    return any(by_gcc or child.tag not in TEMPLATE_PARAMETERS for _, child, _ in children(unit, position))


def _place(method: VirtualMethod) -> tuple[bool, int, str, str]:
    return method.slot is None, method.slot or 0, method.display, method.symbol


def needed_whole(entries: Mapping[Name, Sequence[AnyShape]]) -> set[Name]:
    """The types of objects: of members, bases, variables, parameters and results. Units that have these know them."""
    found: set[Name] = set()
    pending = [name for shapes in entries.values() for shape in shapes for name in _objects(shape)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += (each for shape in entries.get(name, ()) if isinstance(shape, Alias) for each in embedded(shape))
    return found


def _objects(shape: AnyShape) -> Iterable[Name]:
    match shape:
        case Record() | Variable():
            return embedded(shape)
        case Function():
            return (each.name for each in (shape.result, *shape.parameters) if isinstance(each, Named))
        case _:
            return ()
