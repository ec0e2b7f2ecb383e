"""Which changes of a class are of private data alone, which programs hold as bytes and never look into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from abistore.compare.types.extents import Extent, Extents
from abistore.compare.types.type_side import TypeSide
from abistore.model.shapes import Array, Field, Inline, Named, Pointer, Primitive, Record, TypeRef

BITS: Final = 8


def changed_private_data(
    old: Record, new: Record, sides: tuple[TypeSide, TypeSide], is_handled: Callable[[], bool]
) -> frozenset[str]:
    """The private members of a class that moved or are of other types, where no more than that differs.

    They take the same bytes, or some of these. Programs copy numbers and pointers and do no more, where no inline
    function of the header uses one::

        class Size { int width, height; public: int area() const; };    // then height, width

    A class that is passed in registers keeps the types at their places, or goes into the same registers. Members may
    be of any types where the library's functions alone handle objects: ``is_handled`` tells.
    """
    if old.sort == "union" or replace(old, fields=()) != replace(new, fields=()) or _shown(old) != _shown(new):
        return frozenset()
    before, after = _only(old, new), _only(new, old)
    if (
        not _move(before, after)
        or not _lie_within(before, after, sides)
        or _alignment(old, sides[0]) != _alignment(new, sides[1])
    ):
        return frozenset()
    if not _are_copied_alike(old, new, sides) and not is_handled():
        return frozenset()
    return frozenset(each.name for each in before)


def _are_copied_alike(old: Record, new: Record, sides: tuple[TypeSide, TypeSide]) -> bool:
    """Whether programs copy what differs as bytes, and pass it where the library looks for it."""
    before, after = _only(old, new), _only(new, old)
    if not _are_plain(before, sides[0]) or not _are_plain(after, sides[1]):
        return False
    return old.passing == "reference" or _places(before) == _places(after) or _pass_alike(old, new, sides)


def _shown(record: Record) -> list[Field]:
    return [each for each in record.fields if each.access != "private"]


def _only(own: Record, other: Record) -> list[Field]:
    """The private fields that the other side has not, or not like this."""
    return [each for each in own.fields if each.access == "private" and each not in other.fields]


def _move(old: Iterable[Field], new: Sequence[Field]) -> bool:
    """Whether some fields are elsewhere or of another type, and are else what they were."""
    pairs = [(one, other) for one in old for other in new if one.name == other.name]
    return bool(pairs) and all(
        one.mutable == other.mutable and _storage(one) != _storage(other) for one, other in pairs
    )


def _storage(field: Field) -> tuple[int, int | None, TypeRef]:
    return field.offset, field.bit_size, field.type


def _pass_alike(old: Record, new: Record, sides: tuple[TypeSide, TypeSide]) -> bool:
    """Whether objects by value go into the same registers, or are too large for any."""
    from abistore.compare.types.registers import LARGEST, registers  # few private members move

    largest = LARGEST.get(sides[0].snapshot.target.machine, 0)
    if old.size > largest:
        return True
    before, after = registers(Inline(old), sides[0]), registers(Inline(new), sides[1])
    return before is not None and before == after


def _places(fields: Iterable[Field]) -> dict[int, TypeRef]:
    return {each.offset: each.type for each in fields}


def _lie_within(old: Sequence[Field], new: Sequence[Field], sides: tuple[TypeSide, TypeSide]) -> bool:
    """Whether the new fields lie where the old ones lay: copies that programs make of these hold them."""
    before, after = _extents(old, sides[0]), _extents(new, sides[1])
    return before is not None and after is not None and all(map(Extents(before).cover, after))


def _alignment(record: Record, types: TypeSide) -> int | None:
    return types.layouts.alignment(Inline(record))


def _extents(fields: Sequence[Field], types: TypeSide) -> list[Extent] | None:
    """The storage of fields; ``None`` where one has no size or no name."""
    found: list[Extent] = []
    for each in fields:
        size = types.layouts.size(each.type)
        if not size or not each.name:
            return None
        found.append((each.offset, each.offset + (BITS * size if each.bit_size is None else each.bit_size)))
    return found


def _are_plain(fields: Iterable[Field], types: TypeSide) -> bool:
    """Whether all are numbers, pointers or arrays of these."""
    return all(_is_plain(each.type, types) for each in fields)


def _is_plain(type: TypeRef, types: TypeSide) -> bool:
    bare, _ = types.bare(type)
    match bare:
        case Array(element, _, False):
            return _is_plain(element, types)
        case Named(name):
            return name.kind == "enum"
        case _:
            return isinstance(bare, Primitive | Pointer)
