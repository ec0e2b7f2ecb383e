"""What declarations of both sides go on mentioning as they did."""

from __future__ import annotations

from abistore.model.names import Name
from abistore.model.reach import references
from abistore.model.shapes import Alias, AnyShape, Foreign, Function, Record, TypeRef, Variable
from abistore.model.snapshot import Snapshot


def mentioned_alike(old: Snapshot, new: Snapshot) -> frozenset[Name]:
    """The names in types that a declaration is made of on both sides."""
    after = new.entries.get("layout", {})
    found: set[Name] = set()
    for user, variants in old.entries.get("layout", {}).items():
        if user in after:
            kept = {type for shape in variants for type in _parts(shape)}
            kept &= {type for shape in after[user] for type in _parts(shape)}
            found.update(name for type in kept for name, _ in references(Alias(type)))
    return frozenset(found)


def _parts(shape: AnyShape) -> tuple[TypeRef, ...]:
    """The types that a declaration is made of, each as it is written there."""
    match shape:
        case Function():
            return shape.result, *shape.parameters
        case Variable():
            return (shape.type,)
        case Alias():
            return (shape.target,)
        case Record():
            virtuals = (type for each in shape.virtuals for type in (each.result, *each.parameters))
            return *(each.type for each in shape.fields), *(each.type for each in shape.bases), *virtuals
        case Foreign():
            return shape.arguments
        case _:
            return ()
