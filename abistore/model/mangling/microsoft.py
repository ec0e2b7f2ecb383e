"""Decorated names of Visual C++ (``?area@geo@@YAHH@Z``): what they name, and what their letters tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from msgspec.structs import replace

from abistore.model.mangling.decorated import DESCRIPTOR, MADE, is_declared, is_decorated
from abistore.model.mangling.microsoft_reader import DecoratedName, Decoration, Unreadable

LONGEST: Final = 1 << 12

Told = TypeVar("Told")


def _told(
    symbol: str, read: Callable[[DecoratedName], Told], start: int = 1, *, class_keys: bool = False
) -> Told | None:
    """What the letters from ``start`` on tell; ``None`` where they cannot be read, or would become too long."""
    try:
        return read(DecoratedName(symbol, start, class_keys=class_keys))
    except (Unreadable, IndexError, ValueError):
        return None


def decoration(symbol: str, *, class_keys: bool = False) -> Decoration | None:
    """What the letters of ``symbol`` tell; ``None`` where they cannot be read, and of what no source declares.

    ``class_keys`` spells ``struct P`` and ``class P`` for types, which have different letters.
    """
    if not is_decorated(symbol) or len(symbol) > LONGEST or not is_declared(symbol):
        return None
    return _told(symbol, DecoratedName.decoration, class_keys=class_keys)


def is_private(symbol: str) -> bool:
    """Whether a class alone may use what ``symbol`` names: derived classes have its virtual functions all the same."""
    found = decoration(symbol)
    return found is not None and found.access == "private" and found.sort != "virtual"


def without_letters(symbol: str, *, qualifiers: bool = False) -> str:
    """What two decorated names of one function or variable have in common, whatever their letters tell.

    With ``qualifiers`` only those of the object may differ: ``const``, ``volatile``, ``&`` and ``&&``.
    """
    found = decoration(symbol, class_keys=qualifiers)
    if found is None:
        return symbol
    if qualifiers:
        return str(replace(found, qualifiers=""))
    return found.name if found.parameters is None else f"{found.name}({found.parameters})"


def without_class_keys(symbol: str) -> str:
    """What two decorated names have in common whose types are a ``struct`` in one and a ``class`` in the other."""
    found = decoration(symbol)
    return symbol if found is None else str(found)


def class_of(symbol: str) -> str:
    """The class that a table is of: ``ui::Widget`` of ``??_7Widget@ui@@6B@``; empty of other names."""
    prefix = next(filter(symbol.startswith, MADE), None)
    return (_told(symbol, DecoratedName.qualified, len(prefix)) or "") if prefix else ""


def described_class(descriptor: str) -> str:
    """The class of a type descriptor: ``ui::Widget`` of ``??_R0?AVWidget@ui@@@8``; empty where it cannot be read."""
    return _told(descriptor, DecoratedName.qualified, len(DESCRIPTOR) + len("?AV")) or ""


def qualified_name(symbol: str) -> str:
    """``geo::area`` of ``?area@geo@@YAHH@Z``; empty where the name cannot be read."""
    if not is_decorated(symbol) or len(symbol) > LONGEST:
        return ""
    return _told(symbol, lambda name: name.qualified(symbol=True)) or ""


def demangled(symbol: str) -> str:
    """``geo::area(int)`` of ``?area@geo@@YAHH@Z``; empty where the name cannot be read, or would become too long."""
    if not is_decorated(symbol) or len(symbol) > LONGEST:
        return ""
    prefix = next(filter(symbol.startswith, MADE), None)
    if prefix:
        return _told(symbol, lambda name: name.table(MADE[prefix]), len(prefix)) or ""
    return _told(symbol, DecoratedName.whole) or ""
