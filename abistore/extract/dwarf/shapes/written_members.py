"""Whether somebody wrote a constructor, the destructor or an assignment of a class, so that it is no plain old data."""

from __future__ import annotations

from typing import Final, Literal

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.entries.peek import parameter_types
from abistore.extract.dwarf.entries.walk import Die, tagged
from abistore.extract.dwarf.names.spellings import CPP
from abistore.extract.dwarf.shapes.special_members import IN_CLASS, SpecialMembers, tells_defaulted
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.patterns import pattern

FUNCTIONS: Final = frozenset({dw.TAG_SUBPROGRAM})


CLANG: Final = pattern(r"clang version (\d+)")
DECLARED: Final = 16
"""The first Clang for which a class is plain old data in spite of special members that are defaulted or deleted."""

AGGREGATES: Final = pattern(r"GNU C\+\+(?:2\d|[3-8]\d)\b")
"""GCC asks plain old data to be aggregates, which since C++20 have no constructor at all."""


def own_tail(types: TypeSource, die: Die) -> Literal["open", "closed"] | None:
    """The tail padding of a class as far as its own functions decide; ``None`` where they do not tell.

    Compilers do not agree (measured by ``tests/extract/test_tails.py``): what is defaulted in the class or deleted
    leaves it plain old data for GCC, other than constructors in C++20, and for Clang since version 16, which does not
    record what is defaulted. Values that members begin with show where the library makes objects by default only.
    """
    unit, abbreviation, position, attributes = die
    if unit.language not in CPP:
        return None
    if not abbreviation.has_children or dw.AT_NAME not in attributes:
        return "closed"
    special, doubtful = SpecialMembers(types, die), False
    for _, child, after in tagged(unit, position, FUNCTIONS):
        end, own = child.decode(unit.data, after, unit)
        member = unit, child, end, own
        if dw.AT_ARTIFICIAL in child.attributes:
            if special.constructs(member) and not parameter_types(member):
                return "open"  # compilers make it where members begin with values, and none that does nothing
            continue
        if not special.is_special(member):
            continue
        opens = _opens(member, special)
        if opens:
            return "open"
        doubtful |= opens is None
    return None if doubtful else "closed"


def _opens(member: Die, special: SpecialMembers) -> bool | None:
    """Whether a special member makes its class more than plain old data; ``None`` where that is not recorded."""
    unit, own = member[0], member[3]
    producer = unit.producer or ""
    clang = CLANG.search(producer)
    if clang:
        if int(clang[1]) < DECLARED:
            return True
        if dw.AT_DELETED in own:
            return False
        provided = special.constructs(member) and not special.can_be_defaulted(parameter_types(member))
        return True if provided else None
    if not tells_defaulted(unit.producer):
        return None
    if special.constructs(member) and AGGREGATES.match(producer):
        return True
    return dw.AT_DELETED not in own and own.get(dw.AT_DEFAULTED) != IN_CLASS
