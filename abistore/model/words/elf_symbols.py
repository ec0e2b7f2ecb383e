"""What ``readelf`` calls the facts of an exported symbol: ``weak``, ``protected``, ``IFUNC``."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal, TypeAlias

from abistore.model.shapes import ElfSymbol, Symbol

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
    """Its type: ``STT_OBJECT`` is ``object``."""
    if symbol.elf and symbol.elf.chosen_at_load:
        return "ifunc"
    return "common" if symbol.elf and symbol.elf.common else _TYPES[symbol.type]


def binding(symbol: Symbol) -> Binding:
    """How the loader and linkers bind it: ``STB_GNU_UNIQUE`` is ``unique``."""
    return "unique" if symbol.elf and symbol.elf.unique else "weak" if symbol.weak else "global"


def visibility(symbol: Symbol) -> Visibility:
    """Whether others may define it anew for the library itself."""
    return "protected" if symbol.elf and symbol.elf.protected else "default"


@cache
def elf_symbol(type: SymbolType, binding: Binding, visibility: Visibility) -> Symbol:
    """A symbol that ``readelf`` tells of so, without size and version."""
    elf = ElfSymbol(type == "ifunc", type == "common", binding == "unique", visibility == "protected")
    return Symbol(_COMMON[type], binding == "weak", elf=elf if elf != ElfSymbol() else None)
