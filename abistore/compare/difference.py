"""Which names two snapshots show in different ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Snapshot, Variants

Differing: TypeAlias = Mapping[Facet, frozenset[Name]]
"""By facet, the names that only one side has there, or that have other shapes."""


def differing(old: Snapshot, new: Snapshot) -> Differing:
    """The names that differ, facet by facet; in a facet that one side has not observed these are all of the other's."""
    return {facet: _differing(old.entries.get(facet, {}), new.entries.get(facet, {})) for facet in FACETS}


def _differing(old: Mapping[Name, Variants], new: Mapping[Name, Variants]) -> frozenset[Name]:
    changed = [name for name, shapes in old.items() if new.get(name) != shapes]
    return frozenset([*changed, *(new.keys() - old.keys())])
