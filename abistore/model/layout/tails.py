"""Whether other data may lie in the padding at the end of a class (Itanium C++ ABI, 2.2 and 2.4)."""

from __future__ import annotations

from abistore.model.shapes import Pointer, Qualified, Record, TypeRef


def is_open_by_parts(record: Record) -> bool:
    """Whether a record is no plain old data as its own parts show: what derives from it may use its tail padding.

    Bases, virtual functions, members that are not public, references, and special members that are not trivial do. What
    is not copied at all may be plain old data.
    """
    if record.bases or record.virtuals or record.has_vptr or (record.passing == "reference" and not record.deleted):
        return True
    return any(field.access != "public" or _is_reference(field.type) for field in record.fields)


def _is_reference(type: TypeRef) -> bool:
    bare = type.target if isinstance(type, Qualified) else type
    return isinstance(bare, Pointer) and bare.sort != "*"
