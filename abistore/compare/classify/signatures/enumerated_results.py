"""Results that were integers and are enumerations now, in the same register and of the same numbers."""

from __future__ import annotations

from abistore.compare.context import Context
from abistore.compare.types.sameness import NUMBERS
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Enum, Inline, Named, Primitive, TypeRef


def holds_enumerators(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether an integer became a wider enumeration of which each enumerator, and each union of them, fits in it.

    Built callers read the low part of the register. All machines return it as they would the integer: extended.
    """
    integer, enum = context.old.types.bare(old)[0], _enum(new, context.new.types)
    if enum is None or not isinstance(integer, Primitive) or not integer.size < enum.size:
        return False
    target = context.old.snapshot.target
    if enum.size > 8 or (8 * enum.size > target.bits and target.endianness == "big"):
        return False  # not in one register, or the first of two holds the upper half
    numbers = _numbers(integer)
    return bool(enum.enumerators) and all(each.value in numbers for each in enum.enumerators)


def _enum(type: TypeRef, side: TypeSide) -> Enum | None:
    match side.bare(type)[0]:
        case Named(name):
            shape = side.shape(name)
            return shape if isinstance(shape, Enum) else None
        case Inline(Enum() as shape):
            return shape
        case _:
            return None


def _numbers(integer: Primitive) -> range:
    """The numbers that an integer holds on every platform: ``char`` may be signed or not. None of other types."""
    bits = 8 * integer.size
    match NUMBERS.get(integer.spelling):
        case "signed":
            return range(-(1 << bits - 1), 1 << bits - 1)
        case "unsigned":
            return range(1 << bits)
        case "either":
            return range(1 << bits - 1)
        case _:
            return range(0)
