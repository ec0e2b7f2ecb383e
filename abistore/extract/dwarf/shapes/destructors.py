"""The vtable slots of virtual destructors. GCC records none and Clang always 0: they follow from the other slots."""

from __future__ import annotations

from functools import cache, partial
from typing import TypeAlias

from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Function, Named, Record

Entries: TypeAlias = dict[Name, list[AnyShape]]

MAX_BASES = 100
"""How long a chain of primary bases is followed."""


def place_destructors(entries: Entries) -> None:
    """Fills in the slots, in classes and in the functions that implement destructors."""
    slot_of = cache(partial(destructor_slot, entries=entries))
    for name, shapes in entries.items():
        for index, shape in enumerate(shapes):
            if isinstance(shape, Function):
                method = shape.method
                if method is not None and method.virtual != "no" and method.slot is None and "::~" in shape.display:
                    shapes[index] = replace(shape, method=replace(method, slot=slot_of(method.owner)))
            elif isinstance(shape, Record) and shape.virtuals and shape.virtuals[-1].slot is None:
                shapes[index] = _placed(shape, slot_of(name))


def destructor_slot(name: Name, entries: Entries) -> int | None:
    """The first of the two slots of a class's virtual destructor, where it can be told.

    A destructor takes over the slots of its primary base's; in a class without polymorphic bases it has those that no
    other method has (Itanium C++ ABI, 2.5.2).
    """
    for _ in range(MAX_BASES):
        record = _only_record(name, entries)
        if record is None:
            return None
        others = {method.slot for method in record.virtuals if not method.display.startswith("~")}
        bases = [base.type.name for base in record.bases if isinstance(base.type, Named) and not base.virtual]
        primary = next((base for base in bases if _is_polymorphic(base, entries)), None)
        if primary is None:
            introduces = len(others) < len(record.virtuals) and record.has_vptr
            return _free_slots(others) if introduces and not any(base.virtual for base in record.bases) else None
        name = primary
    return None


def _placed(record: Record, slot: int | None) -> Record:
    virtuals = [replace(method, slot=slot) if method.display.startswith("~") else method for method in record.virtuals]
    virtuals.sort(key=lambda method: (method.slot is None, method.slot))
    return replace(record, virtuals=tuple(virtuals))


def _free_slots(taken: set[int | None]) -> int:
    slot = 0
    while slot in taken or slot + 1 in taken:
        slot += 1
    return slot


def _only_record(name: Name, entries: Entries) -> Record | None:
    shapes = entries.get(name, [])
    return shapes[0] if len(shapes) == 1 and isinstance(shapes[0], Record) else None


def _is_polymorphic(name: Name, entries: Entries) -> bool:
    pending, seen = [name], {name}
    while pending:
        record = _only_record(pending.pop(), entries)
        if record is not None:
            if record.has_vptr or record.virtuals:
                return True
            bases = {base.type.name for base in record.bases if isinstance(base.type, Named)}
            pending += bases - seen
            seen |= bases
    return False
