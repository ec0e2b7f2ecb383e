"""What the evidence itself shows: names that stand for several things at once."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.parts import Variant
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Removed
from abistore.model.findings import Impact
from abistore.model.spelling import declaration


@rule(Impact.RISK, evidence="layout", element="types", action="removed", aliases=("odr_source_conflict",))
def declaration_variant_removed(variant: Removed[Variant]) -> Iterator[Note]:
    """One of several shapes of one name is gone.

    Units of the library disagreed about the declaration, and now fewer do. Consumers that were compiled with the shape
    that is gone no longer agree with anybody.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("one shape of the name is gone", declaration(variant.subject.name, variant.old.shape))


@rule(Impact.RISK, evidence="layout", element="types", action="added", aliases=("odr_type_variant",))
def declaration_variant_added(variant: Added[Variant]) -> Iterator[Note]:
    """Further shape of one name.

    Units of the library disagree about the declaration: objects that pass between them, or to consumers, are used with
    two layouts.

    Fix: give one name one definition in all units (the one definition rule).
    """
    yield Note("the name has a further shape", None, declaration(variant.subject.name, variant.new.shape))
