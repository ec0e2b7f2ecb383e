"""How far numbers and enumerations are the same for a built consumer, and the words for that."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from abistore.model.shapes import Enum, Primitive, TypeRef


class Sameness(IntEnum):
    """How two types compare, most alike first; of two parts the larger one counts.

    ``IDENTICAL``: the same reference (a difference inside a named type is that type's own). ``SPELLING``: the same
    type under another name. ``QUALIFIERS``: only ``const``, ``volatile`` or ``restrict`` differ. ``REPRESENTATION``:
    the same bits, held and passed the same way, with a compatible meaning (``void *`` and ``T *``, an enum and its
    integer). ``REINTERPRETED``: the same bits with another meaning for some values (signed and unsigned).
    ``DIFFERENT``: a consumer that uses one as the other fails.
    """

    IDENTICAL = 0
    SPELLING = 1
    QUALIFIERS = 2
    REPRESENTATION = 3
    REINTERPRETED = 4
    DIFFERENT = 5


FLOATS = frozenset({"float", "double", "long double", "_Float32", "_Float64", "_Float32x"})
"""Floating types whose format follows from their size as long as that is at most eight bytes."""

_SIGNED = ("short", "int", "long", "long long", "__int128")

NUMBERS: Mapping[str, str] = {
    **dict.fromkeys((*_SIGNED, "signed char", "ptrdiff_t"), "signed"),
    **dict.fromkeys((f"unsigned {each}" for each in (*_SIGNED, "char")), "unsigned"),
    **dict.fromkeys(("unsigned", "char8_t", "char16_t", "char32_t"), "unsigned"),
    **dict.fromkeys(("char", "wchar_t"), "either"),
    **dict.fromkeys(FLOATS, "float"),
    **dict.fromkeys(("bool", "_Bool"), "bool"),
}
"""What the bits of built-in types mean; any other type means what itself alone does."""


def is_void(type: TypeRef) -> bool:
    """Whether it is ``void``."""
    return isinstance(type, Primitive) and type.spelling == "void"


def primitives(old: Primitive, new: Primitive) -> Sameness:
    """How far one built-in type can be used as another."""
    if old.size != new.size or is_void(old) or is_void(new):
        return Sameness.DIFFERENT
    kinds = {_number(old), _number(new)}
    if kinds <= {"signed", "either"} or kinds <= {"unsigned", "either"}:
        return Sameness.REPRESENTATION
    if kinds <= {"signed", "unsigned", "either", "bool"}:
        return Sameness.REINTERPRETED
    if kinds == {"float"} and old.size <= 8:
        return Sameness.REPRESENTATION
    return Sameness.DIFFERENT


def _number(type: Primitive) -> str:
    return NUMBERS.get(type.spelling, type.spelling)


def enums(old: Enum, new: Enum) -> Sameness:
    """How far one enumeration can be used as another: one that only gained enumerators is the same."""
    values = {each.name: each.value for each in new.enumerators}
    if old.size != new.size or any(values.get(each.name, each.value) != each.value for each in old.enumerators):
        return Sameness.DIFFERENT
    return Sameness.SPELLING if set(old.enumerators) <= set(new.enumerators) else Sameness.REINTERPRETED


def enum_and_integer(enum: Enum, integer: Primitive) -> Sameness:
    """How far an enumeration and an integer of its size are alike."""
    same = enum.size == integer.size and _number(integer) in ("signed", "unsigned", "either")
    return Sameness.REPRESENTATION if same else Sameness.DIFFERENT
