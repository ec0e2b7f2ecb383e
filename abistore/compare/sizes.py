"""The storage of a type as a list of scalars at offsets, to compare types that are spelled differently."""

from __future__ import annotations

from abistore.model.names import Name
from abistore.model.shapes import (
    Alias,
    Array,
    Enum,
    Foreign,
    Inline,
    Named,
    Pointer,
    Primitive,
    Qualified,
    Record,
    TypeRef,
)
from abistore.model.snapshot import Snapshot

MOST_SCALARS = 256
"""A type of more scalars than this is not compared scalar by scalar."""

DEEPEST = 32
"""How many records and arrays deep a scalar is looked for."""

Place = tuple[int, int | None]
"""An offset in bits, and the width of a bit-field."""


def size_of(type: TypeRef, snapshot: Snapshot, depth: int = 0) -> int | None:
    """The size of ``type`` in bytes; ``None`` where the evidence does not tell."""
    if depth > DEEPEST:
        return None
    match type:
        case Primitive(_, size):
            return size or None
        case Pointer():
            return snapshot.target.bits // 8
        case Qualified(target):
            return size_of(target, snapshot, depth + 1)
        case Array(element, count):
            each = size_of(element, snapshot, depth + 1)
            return None if each is None or count is None else each * count
        case Inline(shape):
            return shape.size
        case Named(name):
            return _named_size(name, snapshot, depth)
        case _:
            return None


def _named_size(name: Name, snapshot: Snapshot, depth: int) -> int | None:
    variants = snapshot.variants("layout", name)
    match variants:
        case (Alias(target),):
            return size_of(target, snapshot, depth + 1)
        case (Record() | Enum() | Foreign() as shape,):
            return shape.size
        case _:
            return None


def scalars(type: TypeRef, snapshot: Snapshot) -> list[tuple[Place, TypeRef]] | None:
    """The scalars of ``type`` in memory order; ``None`` where it has too many, or holds what has no fixed layout.

    Unions, bases and vtable pointers have no such list.
    """
    found: list[tuple[Place, TypeRef]] = []
    return found if _collect(type, snapshot, (0, None), found, 0) else None


def _collect(type: TypeRef, snapshot: Snapshot, place: Place, found: list[tuple[Place, TypeRef]], depth: int) -> bool:
    if depth > DEEPEST or len(found) >= MOST_SCALARS:
        return False
    match type:
        case Qualified(target):
            return _collect(target, snapshot, place, found, depth + 1)
        case Array(element, count, False):
            each = size_of(element, snapshot)
            if each is None or count is None or count > MOST_SCALARS:
                return False
            steps = (place[0] + 8 * each * index for index in range(count))
            return all(_collect(element, snapshot, (step, None), found, depth + 1) for step in steps)
        case Inline(Record() as record):
            return _fields(record, snapshot, place[0], found, depth)
        case Named(name) if name.kind != "enum":
            match snapshot.variants("layout", name):
                case (Alias(target),):
                    return _collect(target, snapshot, place, found, depth + 1)
                case (Record() as record,):
                    return _fields(record, snapshot, place[0], found, depth)
                case _:
                    return False
        case _:
            found.append((place, type))
            return True


def _fields(record: Record, snapshot: Snapshot, start: int, found: list[tuple[Place, TypeRef]], depth: int) -> bool:
    if record.sort == "union" or record.bases or record.virtuals or record.has_vptr or record.passing == "reference":
        return False
    return all(
        _collect(each.type, snapshot, (start + each.offset, each.bit_size), found, depth + 1) for each in record.fields
    )
