"""Whether exported objects have other sizes, where formats record sizes and where only bounds of them are known."""

from __future__ import annotations

from abistore.model.tables import Symbol


def sized(old: Symbol, new: Symbol) -> bool:
    """Whether both sides tell the symbol's size, and the sizes differ by more than what may be padding."""
    if old.size <= 0 or new.size <= 0:
        return False
    return least(old) > new.size or least(new) > old.size


def least(symbol: Symbol) -> int:
    """The fewest bytes that an object has: where the format records no sizes, what lies behind it may be padding."""
    facts = symbol.macho or symbol.pe
    return symbol.size - (facts.padding if facts else 0)
