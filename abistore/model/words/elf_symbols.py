"""The type, binding and visibility of a symbol, in the words of ``readelf``."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, TypeAlias

from abistore.model.tables import ElfSymbol, Symbol

SymbolType: TypeAlias = Literal["function", "ifunc", "object", "tls", "common", "notype"]
Binding: TypeAlias = Literal["global", "weak", "unique"]
Visibility: TypeAlias = Literal["default", "protected"]

_TYPES: Final[dict[str, SymbolType]] = {
    "function": "function",
    "data": "object",
    "thread_local": "tls",
    "unknown": "notype",
}
_COMMON: Final[dict[SymbolType, Literal["function", "data", "thread_local", "unknown"]]] = {
    **{"function": "function", "ifunc": "function", "object": "data", "common": "data"},
    **{"tls": "thread_local", "notype": "unknown"},
}


def symbol_type(symbol: Symbol) -> SymbolType:
    """The type of a symbol: ``object`` for ``STT_OBJECT``."""
    if symbol.elf and symbol.elf.chosen_at_load:
        return "ifunc"
    return "common" if symbol.elf and symbol.elf.common else _TYPES[symbol.type]


def binding(symbol: Symbol) -> Binding:
    """The binding of a symbol: ``unique`` for ``STB_GNU_UNIQUE``."""
    return "unique" if symbol.elf and symbol.elf.unique else "weak" if symbol.weak else "global"


def visibility(symbol: Symbol) -> Visibility:
    """The visibility of a symbol. ``protected``: no other library can replace it for its own library."""
    return "protected" if symbol.elf and symbol.elf.protected else "default"


def is_read_only(symbol: Symbol) -> bool | None:
    """Whether writing to the object kills the process; ``None`` where no format tells."""
    facts = symbol.elf or symbol.macho or symbol.pe
    return facts.read_only if facts else None


@cache
def elf_symbol(type: SymbolType, binding: Binding, visibility: Visibility) -> Symbol:
    """The symbol that ``readelf`` describes by these words, without size and version."""
    elf = ElfSymbol(type == "ifunc", type == "common", binding == "unique", visibility == "protected")
    return Symbol(_COMMON[type], binding == "weak", elf=elf if elf != ElfSymbol() else None)
