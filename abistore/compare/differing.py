"""Which names two snapshots show in different ways."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from abistore.model.mangling.contents import named_by_sources
from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Snapshot, Variants

Differing: TypeAlias = Mapping[Facet, frozenset[Name]]
"""By facet, the names that only one side has there, or that have other shapes."""


def differing(old: Snapshot, new: Snapshot, among: Collection[Name] | None = None) -> Differing:
    """The names that differ, facet by facet; in a facet that one side has not observed these are all of the other's.

    Names that compilers make from contents are none by which anybody asks for anything.

    Where it is known ``among`` which names they are, no others are looked at.
    """
    exports = [side.entries.get("symbol", {}) for side in (old, new)]
    return {
        facet: named_by_sources(_differing(old.entries.get(facet, {}), new.entries.get(facet, {}), among), exports)
        for facet in FACETS
    }


def renewed(known: Differing, old: Snapshot, new: Snapshot, changed: Collection[Name]) -> Differing:
    """The names that differ, where ``known`` are those that did before ``changed`` ones of the new side did."""
    fresh = differing(old, new, changed)
    return {facet: names.difference(changed) | fresh[facet] for facet, names in known.items()}


def _differing(
    old: Mapping[Name, Variants], new: Mapping[Name, Variants], among: Collection[Name] | None
) -> frozenset[Name]:
    if among is not None:
        return frozenset(name for name in among if old.get(name) != new.get(name))
    changed = [name for name, shapes in old.items() if new.get(name) != shapes]
    return frozenset([*changed, *(new.keys() - old.keys())])
