"""Which registers objects are passed in by value, as far as the kinds of their members decide that."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, TypeAlias

import msgspec

from abistore.compare.types.scalars import DEEPEST, MOST_SCALARS
from abistore.compare.types.type_side import TypeSide
from abistore.model.layout.layouts import standard_array
from abistore.model.names import Name
from abistore.model.shapes import (
    Array,
    Enum,
    Foreign,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Record,
    TypeRef,
)

Registers: TypeAlias = tuple[object, ...]

LARGEST: Final = {"x86_64": 16, "riscv64": 16, "s390x": 8, "aarch64": 64, "armhf": 64, "ppc64le": 128}
"""The bytes up to which members decide; machines that are not here pass all records in one way."""

MOST_BYTES: Final = max(LARGEST.values())

HOMOGENEOUS: Final = {"aarch64": 4, "armhf": 4, "ppc64le": 8}
"""So many members of one floating type go into a register each."""


WHOLE_UNIONS: Final = frozenset({"riscv64", "s390x"})
"""Machines that pass every union in integer registers, whatever is in it."""


MOST_PARTS: Final = 10_000
"""An object that fits into registers has a thousand bits: more parts, nested in each other, are no compiler's."""


class Leaf(msgspec.Struct, frozen=True, order=True):
    """A scalar within an object: where it begins and how wide it is, in bits, and the floating type that it is."""

    offset: int
    width: int
    floating: str


class _Unknown(Exception):
    """A member is not described, or the object holds too many."""


class _Unbounded(Exception):
    """A member is an array without a bound, for which a compiler takes the object to have no fixed size."""


def registers(type: TypeRef, side: TypeSide) -> Registers | None:
    """Where a caller puts an object of ``type``, to be compared only; ``None`` where members do not decide it.

    Follows the System V ABI of x86-64 (3.2.3) and the procedure call standards of the other machines as far as
    integer and floating members differ. Arguments that come before are left out of account. Members that lie outside
    the object, as only corrupt evidence has them, decide nothing.
    """
    machine = side.snapshot.target.machine
    size = side.layouts.size(type)
    if size is None or size > LARGEST.get(machine, 0):
        return None
    try:
        leaves = list(_Object(side).leaves(type, 0))
    except _Unknown:
        return None
    except _Unbounded:
        return ("memory",) if machine == "x86_64" else None
    if any(leaf.offset + leaf.width > 8 * size for leaf in leaves):
        return None
    if machine == "x86_64":
        return _eightbytes(leaves, size)
    if machine in HOMOGENEOUS:
        return _homogeneous(leaves, size, HOMOGENEOUS[machine])
    distinct = tuple(sorted(set(leaves)))
    most = 2 if machine == "riscv64" else 1
    return distinct if len(leaves) <= most and any(each.floating for each in distinct) else ()


def is_too_large(name: Name, side: TypeSide) -> bool:
    """Whether an object of the type ``name`` never goes into registers, whatever it is made of."""
    size, largest = side.layouts.size(Named(name)), LARGEST.get(side.snapshot.target.machine)
    return size is not None and largest is not None and size > largest


def _eightbytes(leaves: Collection[Leaf], size: int) -> Registers:
    """The class of each eight bytes; an extended number beside others sends all of the object to memory."""
    found = [""] * -(-size // 8)
    for leaf in leaves:
        if leaf.floating == "long double":
            return ("memory",) if {each.floating for each in leaves} != {"long double"} else ("extended",)
        for index in range(leaf.offset // 64, (leaf.offset + leaf.width - 1) // 64 + 1):
            if not leaf.floating or found[index] == "integer":
                found[index] = "integer"
            else:
                found[index] = "vector"
    return tuple(found)


def _homogeneous(leaves: list[Leaf], size: int, most: int) -> Registers:
    """The one floating type of all members and their number, where there are not too many."""
    kinds = {(leaf.floating, leaf.width) for leaf in leaves}
    if len(kinds) != 1:
        return ()
    floating, width = kinds.pop()
    return (floating, width) if floating and 8 * size <= most * width else ()


class _Object:
    """An object being taken apart, as far as :data:`MOST_PARTS` goes."""

    def __init__(self, side: TypeSide) -> None:
        self._side = side
        self._left = MOST_PARTS

    def leaves(self, type: TypeRef, start: int, depth: int = 0) -> Iterator[Leaf]:
        """The scalars of ``type``, which begins at the bit ``start``."""
        side = self._side
        bare, _ = side.bare(type)
        if isinstance(bare, Array) and bare.count is None and not bare.vector:
            self._require_no_bytes()
            return
        size = side.layouts.size(bare)
        self._left -= 1
        if depth > DEEPEST or size is None or self._left < 0:
            raise _Unknown
        match bare:
            case Array(element=element, count=count, vector=False):
                each = side.layouts.size(element)
                if each is None or count is None or count > MOST_SCALARS:
                    raise _Unknown
                for index in range(count):
                    yield from self.leaves(element, start + 8 * each * index, depth + 1)
            case Array():
                yield Leaf(start, 8 * size, "vector")
            case Inline(shape=Record() as record):
                yield from self._members(record, start, depth)
            case Named(name=name) if isinstance(shape := side.shape(name), Record):
                yield from self._members(shape, start, depth)
            case Named(name=name) if isinstance(shape := side.shape(name), Foreign):
                array = standard_array(name, shape)
                if array is None:
                    raise _Unknown
                yield from self.leaves(array, start, depth + 1)
            case Primitive(spelling=spelling):
                yield Leaf(start, 8 * size, _floating(spelling, size))
            case Pointer() | MemberPointer() | Inline(shape=Enum()):
                yield Leaf(start, 8 * size, "")
            case Named(name=name) if isinstance(side.shape(name), Enum):
                yield Leaf(start, 8 * size, "")
            case _:
                raise _Unknown

    def _require_no_bytes(self) -> None:
        """An array without a bound holds no scalar, where compilers give it a size at all."""
        sized = self._side.unbounded_are_sized
        if not sized:
            raise _Unknown if sized is None else _Unbounded

    def _members(self, record: Record, start: int, depth: int) -> Iterator[Leaf]:
        if record.passing == "reference" or record.virtuals or record.has_vptr:
            raise _Unknown
        if record.sort == "union" and self._side.snapshot.target.machine in WHOLE_UNIONS:
            yield Leaf(start, 8 * record.size, "")
            return
        for base in record.bases:
            if base.offset is None:
                raise _Unknown
            yield from self.leaves(base.type, start + base.offset, depth + 1)
        for field in record.fields:
            if field.bit_size is None:
                yield from self.leaves(field.type, start + field.offset, depth + 1)
            elif field.name:
                yield Leaf(start + field.offset, field.bit_size, "")


def _floating(spelling: str, size: int) -> str:
    """The name of a floating type, one for all that are passed alike; empty for others."""
    if "long double" in spelling or spelling == "_Float64x":
        return "long double" if size >= 10 else "double"
    if "float" in spelling.lower() or "double" in spelling:
        return "floating"
    return ""
