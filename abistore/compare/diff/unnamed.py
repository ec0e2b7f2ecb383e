"""How an export differs that no consumer can name."""

from __future__ import annotations

from typing import Any

from abistore.compare.consumers.consumers import Consumers
from abistore.compare.diff.parts import InternalExport, UndeclaredExport
from abistore.model.deltas import Changed, Subject
from abistore.model.names import Name
from abistore.model.shapes import AnyShape


def unnamed(consumers: Consumers, export: Name, old: AnyShape, new: AnyShape) -> Changed[Any]:
    """The delta of an export that no consumer can name; it says so, and which private header declares it."""
    header = consumers.private_header(export)
    if header:
        return Changed(Subject(export), UndeclaredExport(export, old, header), UndeclaredExport(export, new, header))
    return Changed(Subject(export), InternalExport(export, old), InternalExport(export, new))
