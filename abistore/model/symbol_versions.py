"""Symbols with several versions: what the declaration of each is called, and which version a program gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from abistore.model.names import Name
from abistore.model.snapshot import Variants
from abistore.model.tables import Symbol

SEPARATOR: Final = "@"
"""Before the version in the name of a declaration, as linkers spell it: ``open@FOO_1``."""


def symbols_of(variants: Variants) -> tuple[Symbol, ...]:
    """The symbols among the shapes of a name: one for each version."""
    return tuple(shape for shape in variants if isinstance(shape, Symbol))


def bound(symbols: Iterable[Symbol]) -> Symbol:
    """The one of a symbol's versions that a new link binds to."""
    return max(symbols, key=lambda symbol: (symbol.default, symbol.version or ""))


def declared_as(name: Name, symbols: Iterable[Symbol], symbol: Symbol) -> Name:
    """What the declaration of one version of ``name`` is called: ``name`` where a new link binds to it."""
    if symbol.version == bound(symbols).version:
        return name
    return Name(name.kind, f"{name.spelling}{SEPARATOR}{symbol.version or ''}")


def exported_as(name: Name, symbols: Mapping[Name, Variants]) -> Name:
    """The export of which ``name`` is the declaration of one version; else ``name`` itself."""
    spelling, separator, version = name.spelling.rpartition(SEPARATOR)
    if not separator or name in symbols:
        return name
    export = Name(name.kind, spelling)
    found = symbols_of(symbols.get(export, ()))
    return export if any((each.version or "") == version for each in found) else name


def given(symbols: Iterable[Symbol], version: str | None, first: str = "") -> Symbol | None:
    """What the dynamic linker gives a program that asks for a ``version`` of a symbol; ``None`` is no version at all.

    A symbol without version stands for every one, unless it is hidden (no ``default``). Who asks for none gets the one
    that has none, that of the ``first`` node of the library, or the default (glibc, ``elf/dl-lookup.c``).
    """
    found = {each.version: each for each in symbols}
    if version in found:
        return found[version]
    if version is not None:
        plain = found.get(None)
        return plain if plain is not None and plain.default else None
    if first in found:
        return found[first]
    return next((each for each in found.values() if each.default), None)
