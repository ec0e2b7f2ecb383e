"""The numbers of closures in their scope, from the mangled names of their members (Itanium C++ ABI, 5.1.8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.entries.walk import parts
from abistore.model.mangling.symbols import enclosing_functions

if TYPE_CHECKING:
    from abistore.extract.dwarf.entries.info import DebugInfo

DESTROYED: Final = re.compile(r"E(\d*)_D[0-5]Ev$")
MEMBER: Final = re.compile(r"E(\d*)_(?:C[0-5]E|cl[EI])")
"""After a closure's parameters: its number, and what of its members is named."""
METHODS: Final = frozenset({dw.TAG_SUBPROGRAM})


def ordinal_of(info: DebugInfo, handle: int) -> int | None:
    """The number, from 1, of the closure ``handle`` among those of its scope with the same parameters.

    ``None`` for what is no closure, and for one without linkage.
    """
    found = None
    for _, _, attributes in parts(info.die(handle), METHODS):
        symbol = attributes.get(dw.AT_LINKAGE_NAME)
        if symbol is not None and "Ul" in symbol:
            if match := DESTROYED.search(symbol):
                return _ordinal(match[1])
            found = found or _of_member(symbol)
    return found


def _of_member(symbol: str) -> int | None:
    """By a member whose parameters or template arguments may mention closures too, behind its own.

    Each enclosing closure stands before it with its call operator; each enclosing function begins with a ``Z``.
    """
    numbers = MEMBER.findall(symbol)
    enclosing = max(0, enclosing_functions(symbol) - 1)
    return _ordinal(numbers[min(enclosing, len(numbers) - 1)]) if numbers else None


def _ordinal(number: str) -> int:
    """``Ul...E_`` is the first closure, ``Ul...E0_`` the second."""
    return int(number) + 2 if number else 1
