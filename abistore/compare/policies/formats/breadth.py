"""Whether a suppression selects declarations, or takes whatever a library has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from abistore.compare.policies.conditions import (
    Condition,
    InNamespace,
    LocatedIn,
    OfCategory,
    OfKind,
    SymbolMatches,
    TypeMatches,
)
from abistore.compare.policies.expressions import Expression
from abistore.compare.policies.formats.abigail_conditions import (
    About,
    AccessedDirectly,
    BinaryIs,
    DoneTo,
    EnumeratorsChanged,
    Not,
    TypeSort,
)
from abistore.compare.policies.suppression import Suppression
from abistore.model.mangling.symbols import MEMBER

_UNLIKELY: Final = ("q7zx", "k2::w9", "k2::V5::w9(int)", f"{MEMBER}2k22w9Ev", "t5.h", "j8.h", "h4/p1/m3.cpp")
"""Names of symbols, types, namespaces and files that have nothing in common."""

_MOST: Final = 1
"""How many of them an expression may match that selects something."""


def selects_declarations(entry: Suppression) -> bool:
    """Whether one of its conditions names declarations, or where they stand; a kind of change names none."""
    return any(map(_selects, entry.conditions))


def _selects(condition: Condition) -> bool:
    match condition:
        case OfKind() | OfCategory() | Not() | About() | DoneTo() | BinaryIs() | TypeSort() | AccessedDirectly():
            return False
        case SymbolMatches(expressions=found) | TypeMatches(expressions=found):
            return _narrow(found)
        case InNamespace(patterns=found) | LocatedIn(patterns=found):
            return _narrow(found)
        case EnumeratorsChanged(names=names):
            return bool(names)
        case _:
            wanted = getattr(condition, "wanted", None)
            return not isinstance(wanted, Expression) or _narrow((wanted,))


def _narrow(expressions: Iterable[Expression]) -> bool:
    return all(sum(map(each.matches, _UNLIKELY)) <= _MOST for each in expressions)
