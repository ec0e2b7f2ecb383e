"""What one side's headers say of a declaration, and the other's do not: traits, and what bodies name."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.model.declared import Declared, InlineBody, Trait
from abistore.model.deltas import Changed


def gained(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the new side's declaration has ``trait``."""
    return trait in declared.new.traits and trait not in declared.old.traits


def lost(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the old side's declaration has ``trait``."""
    return trait in declared.old.traits and trait not in declared.new.traits


def told_beside(own: InlineBody, other: InlineBody) -> InlineBody:
    """A body as its own text tells it, with types as far as the other names some too: it may be of a former version.

    Whose layouts it depends on is judged with these. The same text that calls the same uses the same: only the access
    to that differs.
    """
    own = replace(own, objects=(), fields=())
    if (own.digest, own.calls) == (other.digest, other.calls):
        return replace(own, members=(), types=())
    return own if other.types else replace(own, types=())
