"""Which classes have a vtable pointer of their own, where a dump does not say: those that share that of no base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Base, Foreign, Named, Record

Entries: TypeAlias = dict[Name, list[AnyShape]]


def place_vptrs(entries: Entries, width: int) -> None:
    """Mark the classes that introduce the vtable pointer, of ``width`` bytes (Itanium C++ ABI, 2.4 and 2.5)."""
    dynamic = _dynamic(entries)
    for name, shapes in entries.items():
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and name in dynamic and not _shares(shape, entries, dynamic, width):
                shapes[index] = replace(shape, has_vptr=True)


def _dynamic(entries: Entries) -> set[Name]:
    """The classes that have a vtable: by methods or virtual bases of their own, or through a base."""
    found = {name for name, shapes in entries.items() if any(map(_has_own, shapes))}
    derived: dict[Name, list[Name]] = {}
    for name, shapes in entries.items():
        for shape in shapes:
            for base in shape.bases if isinstance(shape, Record) else ():
                if isinstance(base.type, Named):
                    derived.setdefault(base.type.name, []).append(name)
    pending = list(found)
    while pending:
        for name in derived.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


def _has_own(shape: AnyShape) -> bool:
    return isinstance(shape, Record) and bool(shape.virtuals or any(base.virtual for base in shape.bases))


def _shares(record: Record, entries: Entries, dynamic: set[Name], width: int) -> bool:
    """Whether a base's vtable pointer is the class's own; of the standard library's classes that is assumed."""
    return any(_is_primary(base, entries, dynamic, width) for base in record.bases)


def _is_primary(base: Base, entries: Entries, dynamic: set[Name], width: int) -> bool:
    if not isinstance(base.type, Named):
        return False
    shapes: Sequence[AnyShape] = entries.get(base.type.name, ())
    if any(isinstance(shape, Foreign) for shape in shapes):
        return True
    if base.type.name not in dynamic:
        return False
    empty = any(isinstance(shape, Record) and not shape.fields and shape.size <= width for shape in shapes)
    return empty or not base.virtual
