"""Which traits of a declaration one side's headers have, and the other's have not."""

from __future__ import annotations

from abistore.model.deltas import Changed
from abistore.model.shapes import Declared, Trait


def gained(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the new side's declaration has ``trait``."""
    return trait in declared.new.traits and trait not in declared.old.traits


def lost(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the old side's declaration has ``trait``."""
    return trait in declared.old.traits and trait not in declared.new.traits
