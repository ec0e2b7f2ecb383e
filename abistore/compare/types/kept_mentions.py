"""Which types a declaration mentions in the same way in both releases."""

from __future__ import annotations

from abistore.model.names import Name
from abistore.model.reach import references
from abistore.model.shapes import Alias, AnyShape, Foreign, Function, Record, TypeRef, Variable
from abistore.model.snapshot import Snapshot


def mentions_alike(name: Name, user: Name, old: Snapshot, new: Snapshot) -> bool:
    """Whether ``name`` is in a type that the declaration of ``user`` is made of on both sides."""
    kept = {type for shape in old.variants("layout", user) for type in _parts(shape)}
    kept &= {type for shape in new.variants("layout", user) for type in _parts(shape)}
    return any(name == mentioned for type in kept for mentioned, _ in references(Alias(type)))


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
