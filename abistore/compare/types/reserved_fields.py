"""Which fields only keep room for later ones, by their name and type."""

from __future__ import annotations

from abistore.model.shapes import VOID, Array, Field, Named, Pointer, Primitive, Procedure, Qualified, Record, TypeRef
from abistore.model.words.telling import forbids_use
from abistore.patterns import pattern

SURE = frozenset({"reserved", "rsvd", "resv", "unused", "padding", "filler", "spare", "placeholder"})
"""Words that tell it in a name that begins with an underscore, or as the last word of an array's or address's name."""

WHOLE = SURE | {"pad", "fill", "dummy", "internal"}
"""Words that tell it as the whole name, numbered or not: ``_pad1``."""

ORDINARY = frozenset({"fill", "internal", "placeholder"})
"""Those of them that mean something as often: they tell it of arrays and ``void *`` only, or as ``_fill``."""

REST = frozenset({"for", "by", "future", "use", "expansion", "extension", "space", "bits", "area", "flags", "slots"})
"""Words that may follow: ``reserved_for_future_use``. A count of ``reserved_bytes`` is no reserve."""

WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def is_reserved(field: Field) -> bool:
    """Whether ``field`` is room for later use, which no consumer has a reason to touch."""
    if not field.name:
        return field.bit_size is not None
    if is_forbidden(field):
        return True
    words = [word.lower() for word in WORD.findall(field.name)]
    if not words or not _is_storage(field.type):
        return False
    if len(words) == 1:
        plain = field.name.lower() in ORDINARY and not _is_memory(field.type)
        return words[0] in WHOLE and not plain
    if words[0] in WHOLE and REST.issuperset(words[1:]):
        return True
    telling = bool(SURE & set(words)) if field.name.startswith("_") else words[-1] in SURE
    return telling and (field.name.startswith("_") or isinstance(field.type, Array | Pointer))


def _is_memory(type: TypeRef) -> bool:
    return isinstance(type, Array) or type == Pointer(VOID)


def is_forbidden(field: Field) -> bool:
    """Whether the field's name asks consumers to leave it alone."""
    return forbids_use(field.name)


def is_opaque_storage(record: Record) -> bool:
    """Whether ``record`` is a union that only gives room to what consumers are to leave alone."""
    if record.sort != "union" or not any(is_forbidden(field) for field in record.fields):
        return False
    return all(is_forbidden(field) or _is_storage(field.type) for field in record.fields)


def _is_storage(type: TypeRef) -> bool:
    """Whether ``type`` is plain memory: numbers, ``void *``, function pointers, arrays of these, or an alias."""
    match type:
        case Array(element=element):
            return _is_storage(element)
        case Qualified(target=target):
            return _is_storage(target)
        case Pointer(target=target):
            return isinstance(target, Primitive | Procedure)
        case Named(name=name):
            return name.kind == "alias"
        case _:
            return isinstance(type, Primitive)
