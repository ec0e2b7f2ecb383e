"""Which fields only keep room for later ones, by their name and type."""

from __future__ import annotations

import re

from abistore.model.shapes import Array, Field, Named, Pointer, Primitive, Procedure, Qualified, TypeRef

SURE = frozenset({"reserved", "rsvd", "resv", "unused", "padding", "filler", "spare", "placeholder"})
"""Words that tell it anywhere in a name: ``__glibc_reserved1``, ``reserved_for_kernel``."""

PROBABLE = frozenset({"pad", "fill", "dummy", "internal", "private", "priv", "opaque", "future", "extra", "do_not_use"})
"""Words that tell it as the whole name, numbered or not: ``_pad1``, ``do_not_use``."""

EDGE = frozenset({"pad"})
"""Words that tell it at the beginning of a name too: ``pad_to_64``."""

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def is_reserved(field: Field) -> bool:
    """Whether ``field`` is room for later use, which no consumer has a reason to touch."""
    if not field.name:
        return field.bit_size is not None
    words = [word.lower() for word in WORD.findall(field.name)]
    if not words or not _is_storage(field.type):
        return False
    whole = "_".join(words)
    return bool(SURE & set(words)) or whole in PROBABLE or (words[0] in EDGE and not _is_address(field.type))


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


def _is_address(type: TypeRef) -> bool:
    return isinstance(type, Pointer)
