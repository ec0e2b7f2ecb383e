"""Results that point to an object of a derived class now, in which the old one is at the start."""

from __future__ import annotations

from abistore.compare.context import Context
from abistore.model.names import Name
from abistore.model.shapes import Named, Pointer, Qualified, Record, TypeRef


def points_to_derived(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether a pointer or reference to a class became one to a class that begins with it as its base."""
    before, after = context.old.types.resolve(old), context.new.types.resolve(new)
    if not (isinstance(before, Pointer) and isinstance(after, Pointer)) or before.sort != after.sort:
        return False
    (one, qualifiers), (other, others) = _class(before.target), _class(after.target)
    return one is not None and other is not None and qualifiers == others and _begins_with(other, one, context)


def _class(type: TypeRef) -> tuple[Name | None, tuple[str, ...]]:
    bare, qualifiers = (type.target, type.qualifiers) if isinstance(type, Qualified) else (type, ())
    return (bare.name if isinstance(bare, Named) and bare.name.kind == "record" else None), qualifiers


def _begins_with(derived: Name, base: Name, context: Context) -> bool:
    """Whether the base is at offset 0 in the new release; a virtual one is elsewhere in what derives further."""
    pending, seen = [derived], {derived}
    while pending:
        shape = context.new.shape(pending.pop())
        bases = shape.bases if isinstance(shape, Record) else ()
        at_start = (each for each in bases if each.offset == 0 and not each.virtual)
        found = {name for name, _ in filter(None, map(context.new.tables.record, at_start))} - seen
        if base in found:
            return True
        seen |= found
        pending += found
    return False
