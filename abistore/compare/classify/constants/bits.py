"""Constants whose numbers differ and whose bits stay: ``0xFFFFFFFF`` and ``-1`` in an enumeration of 32 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.type_side import TypeSide
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.names import Name, unnamed_enum
from abistore.model.shapes import Array, Enum, Function, MemberPointer, Pointer, Primitive, Procedure, Record, TypeRef

DEEPEST: Final = 8
"""How far a type is followed into what it is made of."""

UNKNOWN: Final = 8
"""The bytes of the widest integer that a function may read behind ``...``."""


def keeps_bits(name: Name, values: tuple[int, int], context: Context) -> bool:
    """Whether programs and the library have the same bits of an enumerator of ``name``, though the numbers differ.

    Both sides store the enumeration in the same number of bytes, and programs meet no wider integer that one of them
    could fill with the sign.
    """
    size = _same_size(name, context)
    return size is not None and has_same_bits(*values, size) and context.once(widest_integer) <= size


def unnamed_keeps_bits(first: str, values: tuple[int, int], context: Context) -> bool:
    """The same of a constant in an enumeration without a name, of which debug information tells the size."""
    return keeps_bits(unnamed_enum(first), values, context)


def has_same_bits(old: int, new: int, size: int) -> bool:
    """Whether two numbers differ only in how ``size`` bytes are read: with a sign or without."""
    end = 1 << 8 * size
    fits = all(-(end >> 1) <= value < end for value in (old, new))
    return old != new and fits and (old - new) % end == 0


def _same_size(name: Name, context: Context) -> int | None:
    """The bytes of an enumeration; ``None`` where the sides differ, or one does not tell."""
    sizes = {
        tuple(each.size for each in side.variants("layout", name) if isinstance(each, Enum)) for side in _both(context)
    }
    found = sizes.pop()
    return None if sizes or len(found) != 1 else found[0]


def _both(context: Context) -> tuple[SideFacts, SideFacts]:
    return context.old, context.new


def widest_integer(context: Context) -> int:
    """The bytes of the widest integer that programs hand over or get, in any function, callback or public field.

    Built programs know what the old release offered them.
    """
    found = 0
    for side in _both(context):
        for facet in ("layout", "source"):
            for name, shapes in side.snapshot.entries.get(facet, {}).items():
                mentioned = (type for shape in shapes for type in _mentioned(name, shape, context.old))
                found = max([found, *(_widest(type, side.types, DEEPEST) for type in mentioned)])
    return found


def _mentioned(name: Name, shape: object, old: SideFacts) -> Iterator[TypeRef]:
    """The types of numbers that programs meet by one declaration."""
    if isinstance(shape, Function) and old.consumers.can_name(name):
        yield Procedure(shape.result, shape.parameters, shape.variadic)
    elif isinstance(shape, Record) and _is_own(name, old):
        yield from (each.type for each in shape.fields)


def _is_own(name: Name, side: SideFacts) -> bool:
    """Whether programs may fill in or read a record that is not the system's, as far as the evidence tells."""
    has_headers = "source" in side.snapshot.entries
    return side.consumers.offers(name) if has_headers else side.consumers.can_see(name)


def _widest(type: TypeRef, side: TypeSide, depth: int) -> int:
    """The widest integer in a type. A callback that gives out plain memory takes numbers of bytes, as allocators do."""
    bare, _ = side.bare(type)
    match bare:
        case Primitive() if bare.spelling in INTEGERS:
            return bare.size
        case Pointer() if _is_allocator(bare, side):
            return 0
        case Pointer() | MemberPointer() if depth:
            return _widest(bare.target, side, depth - 1)
        case Array() if depth:
            return _widest(bare.element, side, depth - 1)
        case Procedure() if depth:
            widest = max(_widest(each, side, depth - 1) for each in (bare.result, *bare.parameters))
            return UNKNOWN if bare.variadic else widest
    return 0


def _is_allocator(pointer: Pointer, side: TypeSide) -> bool:
    """Whether it points to a callback that gives the library plain memory."""
    function = side.bare(pointer.target)[0]
    result = side.bare(function.result)[0] if isinstance(function, Procedure) else None
    return isinstance(result, Pointer) and side.bare(result.target)[0] == Primitive("void", 0)
