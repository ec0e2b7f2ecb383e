"""Whether a class is passed by value or by address, from its special members: GCC records no calling convention.

A class goes by the address of a copy where its destructor, copy or move constructor is not trivial, or where it cannot
be copied nor moved (Itanium C++ ABI, 3.1.1); else as its members do.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
from abistore.extract.dwarf.entries.peek import name_at, parameter_types, type_at
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import Die
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.extract.types.passing import DEEPEST, Passing
from abistore.model.cpp_names.qualified import last_component
from abistore.model.recorded.call_options import passes_deleted_by_value
from abistore.patterns import pattern

PRODUCER: Final = pattern(r"GNU C\+\+\S* (\d+)\.")
OLDEST: Final = 8
"""The first GCC that tells which members are defaulted in their class, and so may be trivial."""

IN_CLASS: Final = 1
"""DW_DEFAULTED_in_class."""

REFERENCES: Final = frozenset({dw.TAG_REFERENCE_TYPE, dw.TAG_RVALUE_REFERENCE_TYPE})
TRANSPARENT: Final = frozenset({dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})


@cache
def tells_defaulted(producer: str | None) -> bool:
    """Whether a compiler lists the special members that each class declares, and which of them are defaulted.

    The latter is an attribute of DWARF 5, which older versions hold unless they are strict.
    """
    match = PRODUCER.match(producer or "")
    return match is not None and int(match[1]) >= OLDEST and "-gstrict-dwarf" not in match.string


class SpecialMembers:
    """The special members that one class declares itself."""

    def __init__(self, types: TypeSource, die: Die) -> None:
        self._types = types
        self._name = str(die[3].get(dw.AT_NAME, "")).partition("<")[0]
        self._provided = False
        self._deleted = False
        self._usable = False
        self._doubtful = False
        self._deletes_by_value = passes_deleted_by_value(die[0].producer or "")

    def wants(self, unit: Unit, abbreviation: Abbreviation, position: int) -> bool:
        """Whether the member function whose code ends at ``position`` is a constructor or destructor of the source."""
        if dw.AT_TYPE in abbreviation.attributes or dw.AT_ARTIFICIAL in abbreviation.attributes:
            return False
        name = name_at(unit, abbreviation, position)
        return name == self._name or name.startswith("~")

    def add(self, die: Die) -> None:
        """Takes note of a member function, if it is a destructor, copy or move constructor."""
        attributes = die[3]
        name = attributes.get(dw.AT_NAME, "")
        if dw.AT_ARTIFICIAL in attributes:
            return
        if name.startswith("~"):
            self._provided |= dw.AT_DELETED not in attributes and attributes.get(dw.AT_DEFAULTED) != IN_CLASS
        elif name == self._name:
            self._add_constructor(die)

    def _add_constructor(self, die: Die) -> None:
        attributes, taken = die[3], parameter_types(die)
        if not taken or not self._is_reference_to_own(taken[0]):
            return
        if len(taken) > 1:  # it copies where the others have default arguments, which nothing records
            self._doubtful = True
        elif dw.AT_DELETED in attributes:
            self._deleted = True
        elif attributes.get(dw.AT_DEFAULTED) != IN_CLASS:
            self._provided = True
        else:
            self._usable = True

    def constructs(self, die: Die) -> bool:
        """Whether a member function is a constructor."""
        return bool(die[3].get(dw.AT_NAME, "") == self._name)

    def is_special(self, die: Die) -> bool:
        """Whether a member function is a constructor, the destructor, or assigns an object of the class."""
        name = die[3].get(dw.AT_NAME, "")
        if name == "operator=":
            taken = parameter_types(die)
            return bool(taken) and self._is_reference_to_own(taken[0])
        return self.constructs(die) or bool(name.startswith("~"))

    def can_be_defaulted(self, taken: list[int]) -> bool:
        """Whether a constructor that takes this could be ``= default``: it takes nothing, or copies."""
        return not taken or (len(taken) == 1 and self._is_reference_to_own(taken[0]))

    @property
    def passing(self) -> Passing | None:
        """How the class goes by value as far as its own members decide; ``None`` where they do not tell."""
        if self._provided or (self._deleted and not self._usable and not self._deletes_by_value):
            return "reference"
        return None if self._doubtful else "value"

    def _is_reference_to_own(self, handle: int) -> bool:
        """Whether the type ``handle`` is one. It is not read as others are: what only it mentions is not reached."""
        info = self._types.info
        unit, abbreviation, position = info.entry(handle)
        if abbreviation.tag not in REFERENCES:
            return False
        for _ in range(DEEPEST):
            handle = type_at(unit, abbreviation, position)
            if handle < 0:
                return False
            unit, abbreviation, position = info.entry(handle)
            if abbreviation.tag not in TRANSPARENT:
                break
        name = name_at(unit, abbreviation, position)
        if not name:
            name = last_component(self._types.spellings.of(handle, info.attributes(handle)) or "")
        return name.partition("<")[0] == self._name
