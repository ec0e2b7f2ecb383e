"""What the first letters of a decorated name of Visual C++ tell (``?area@geo@@YAHH@Z``). No more is read."""

from __future__ import annotations

from typing import Final

DECORATED: Final = "?"

TABLES: Final = ("??_7", "??_8", "??_R", "??_9", "??_S", "??_B", "??_C", "??_F", "??_G", "??_E", "??_D")
"""Vtables, tables of virtual bases, type information, thunks, guards, literals, and destructors that also free."""

VFTABLE, VBTABLE, RTTI, DESCRIPTOR = "??_7", "??_8", "??_R", "??_R0"
"""Tables of virtual functions and of virtual bases, type information, and of that ``??_R0?AVWidget@ui@@@8``."""

MADE: Final = {"??_7": "vtable for ", "??_8": "vbtable for ", "??_R4": "RTTI locator of "}
"""What compilers make for a class, and the words for it."""

OF_TABLES: Final = tuple(MADE.values())


def is_decorated(symbol: str) -> bool:
    """Whether ``symbol`` is a decorated name of Visual C++."""
    return symbol.startswith(DECORATED)


def is_declared(symbol: str) -> bool:
    """Whether some source declares a decorated ``symbol``: compilers make vtables, type information and thunks."""
    return not symbol.startswith(TABLES) and not symbol.startswith("??__")
