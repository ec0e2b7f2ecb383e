"""Which types a declaration mentions in the same way in both releases."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Enum, Record, TypeRef
from abistore.model.snapshot import Snapshot
from abistore.model.structure import mentioned


def mentions_alike(name: Name, user: Name, old: Snapshot, new: Snapshot) -> bool:
    """Whether ``name`` is in a type that the declaration of ``user`` is made of on both sides."""
    kept = {type for shape in old.described(user) for type in _parts(shape)}
    kept &= {type for shape in new.described(user) for type in _parts(shape)}
    return any(name == mentioned for type in kept for mentioned, _ in references(Alias(type)))


def _parts(shape: AnyShape) -> tuple[TypeRef, ...]:
    """The types that a declaration is made of, without those that name it."""
    if isinstance(shape, Enum):
        return ()
    return mentioned(replace(shape, arguments=()) if isinstance(shape, Record) else shape)
