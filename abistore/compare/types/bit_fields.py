"""Bit-fields of whole bytes, which lie in memory as ordinary members do."""

from __future__ import annotations

from abistore.compare.types.sameness import NUMBERS
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Field, Primitive, TypeRef


def as_member(field: Field, side: TypeSide) -> TypeRef | None:
    """The type of an ordinary member with the bits of ``field``; ``None`` for a bit-field that is like none.

    ``unsigned red : 8`` at the start of a byte is an ``unsigned char``, on big-endian systems too: whole bytes have no
    bits to count from another end. A volatile bit-field may be read by all bytes of its declared type.
    """
    bare, qualifiers = side.bare(field.type)
    if field.bit_size is None:
        return bare
    if "volatile" in qualifiers or field.offset % 8 or field.bit_size % 8:
        return None
    if side.layouts.size(bare) == field.bit_size // 8:
        return bare
    if isinstance(bare, Primitive) and NUMBERS.get(bare.spelling) in ("signed", "unsigned"):
        return Primitive(bare.spelling, field.bit_size // 8)
    return None
