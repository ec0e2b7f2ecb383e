"""Fields, scalars and registers of a type, and how far numbers and enumerations are the same."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cached_property
from typing import Final, TypeAlias

import msgspec

from abistore.model.declarations import Name
from abistore.model.layout import Layouts, standard_array
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
    Foreign,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Qualified,
    Record,
    TypeRef,
)
from abistore.model.snapshot import Snapshot


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


Extent: TypeAlias = tuple[int, int]
"""The first bit of some storage and the first behind it."""


class Extents:
    """Some storage, joined where it touches, so that a look at it costs no more for many fields."""

    def __init__(self, extents: Iterable[Extent]) -> None:
        self._joined: list[Extent] = []
        for start, end in sorted(extents):
            if self._joined and start <= self._joined[-1][1]:
                self._joined[-1] = self._joined[-1][0], max(end, self._joined[-1][1])
            else:
                self._joined.append((start, end))
        self._starts = [start for start, _ in self._joined]

    def cover(self, own: Extent) -> bool:
        """Whether all of ``own`` is in this storage."""
        index = bisect_right(self._starts, own[0])
        return index > 0 and own[1] <= self._joined[index - 1][1]

    def meet(self, own: Extent) -> bool:
        """Whether some of ``own`` is in this storage."""
        index = bisect_left(self._starts, own[1])
        return index > 0 and own[0] < self._joined[index - 1][1]


MOST_ALIASES = 64
"""A chain of typedefs longer than this is malformed input."""


class TypeSide:
    """One snapshot's named types, resolved. Answers are kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._bare: dict[TypeRef, tuple[TypeRef, frozenset[str]]] = {}
        self._pointees: dict[tuple[TypeRef, int], Name | None] = {}

    @cached_property
    def layouts(self) -> Layouts:
        """Sizes and alignments of this side's types."""
        return Layouts(self.snapshot)

    @cached_property
    def unbounded_are_sized(self) -> bool | None:
        """Whether compilers give an array without a bound the size 0, as GCC does in C; ``None`` where nothing says it.

        GCC in C++, and clang, have no size for an object that ends with such an array, and pass it in memory.
        """
        told, compilers = self.snapshot.provenance.languages, self.snapshot.provenance.compilers
        if any("clang" in each for each in compilers) or any("++" in each or "plus_plus" in each for each in told):
            return False
        if told:
            return True
        functions = (name.spelling for name in self.snapshot.entries.get("symbol", {}) if name.kind == "function")
        return False if any(map(is_mangled, functions)) else None

    def shape(self, name: Name) -> AnyShape | None:
        """The one declaration of ``name``; ``None`` where it has none or several."""
        variants = self.snapshot.described(name)
        return variants[0] if len(variants) == 1 else None

    def has(self, name: Name) -> bool:
        """Whether the side knows ``name`` at all."""
        return bool(self.snapshot.variants("layout", name) or self.snapshot.variants("source", name))

    def resolve(self, type: TypeRef) -> TypeRef:
        """``type`` with its outermost aliases replaced by what they stand for."""
        for _ in range(MOST_ALIASES):
            if not isinstance(type, Named) or type.name.kind != "alias":
                return type
            shape = self.shape(type.name)
            if not isinstance(shape, Alias):
                return type
            type = shape.target
        return type

    def bare(self, type: TypeRef) -> tuple[TypeRef, frozenset[str]]:
        """``type`` without outermost aliases and qualifiers, and these qualifiers."""
        known = self._bare.get(type)
        if known is None:
            qualifiers: set[str] = set()
            target = self.resolve(type)
            while isinstance(target, Qualified):
                qualifiers.update(target.qualifiers)
                target = self.resolve(target.target)
            known = self._bare[type] = target, frozenset(qualifiers)
        return known

    def meanings(self, type: TypeRef) -> tuple[TypeRef, ...]:
        """What ``type`` may be, without outermost aliases and qualifiers.

        Several, where translation units define an alias differently: Clang places ``_Base_ptr`` of a class that a unit
        does not define outside of it, where another class has one too.
        """
        target, _ = self.bare(type)
        if not isinstance(target, Named) or target.name.kind != "alias":
            return (target,)
        aliases = (each for each in self.snapshot.described(target.name) if isinstance(each, Alias))
        return tuple(self.bare(each.target)[0] for each in aliases) or (target,)

    def pointee(self, type: TypeRef, levels: int) -> Name | None:
        """The record or enum behind exactly ``levels`` pointers of ``type``."""
        if (type, levels) not in self._pointees:
            self._pointees[type, levels] = self._pointee(type, levels)
        return self._pointees[type, levels]

    def _pointee(self, type: TypeRef, levels: int) -> Name | None:
        bare, _ = self.bare(type)
        if levels:
            return self.pointee(bare.target, levels - 1) if isinstance(bare, Pointer) else None
        return bare.name if isinstance(bare, Named) else None

    def record_behind(self, name: Name) -> Name | None:
        """The record or enum that ``name`` is, or is an alias or array of."""
        type, _ = self.bare(Named(name))
        while isinstance(type, Array):
            type, _ = self.bare(type.element)
        return type.name if isinstance(type, Named) else None

    def levels(self, type: TypeRef) -> tuple[int, TypeRef]:
        """How many pointers ``type`` goes through, and what is behind the last."""
        type, _ = self.bare(type)
        count = 0
        while isinstance(type, Pointer):
            count += 1
            type, _ = self.bare(type.target)
        return count, type


class InnerField(msgspec.Struct, frozen=True):
    """A member of an anonymous struct or union member, at its ``offset`` (bits) in the named record around it.

    An ``alternative`` stands directly in a union.
    """

    field: Field
    alternative: bool = False


def flat_fields(record: Record) -> list[Field | InnerField]:
    """The fields of ``record``, with those of its anonymous members in their place at offsets in ``record``.

    An unnamed bit-field is left out, an empty anonymous member too.
    """
    return list(_flatten(record, 0, 0))


def _flatten(record: Record, start: int, depth: int) -> Iterator[Field | InnerField]:
    for field in record.fields:
        placed = msgspec.structs.replace(field, offset=start + field.offset) if start else field
        if field.name:
            yield InnerField(placed, record.sort == "union") if depth else placed
        elif isinstance(field.type, Inline) and isinstance(field.type.shape, Record):
            yield from _flatten(field.type.shape, placed.offset, depth + 1)


def plain(field: Field | InnerField) -> Field:
    """The field itself, wherever it is declared."""
    return field.field if isinstance(field, InnerField) else field


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


def nameless(type: TypeRef) -> tuple[tuple[int | None, ...], Record | Enum] | None:
    """The anonymous type that ``type`` is, or is an array of, behind the array's bounds; ``None`` for other types."""
    bounds: list[int | None] = []
    while isinstance(type, Array | Qualified):
        if isinstance(type, Array):
            bounds.append(type.count)
            type = type.element
        else:
            type = type.target
    return (tuple(bounds), type.shape) if isinstance(type, Inline) else None


def told_by_parts(old: Field, new: Field) -> bool:
    """Whether both fields are of anonymous types whose members or enumerators can be compared one by one."""
    before, after = nameless(old.type), nameless(new.type)
    if before is None or after is None or before[0] != after[0] or _sort(before[1]) != _sort(after[1]):
        return False
    return not before[0] or before[1].size == after[1].size


def _sort(shape: Record | Enum) -> str:
    return "enum" if isinstance(shape, Enum) else "union" if shape.sort == "union" else "struct"


MOST_SCALARS = 256
"""A type of more scalars than this is not compared scalar by scalar."""

DEEPEST = 32
"""How many records and arrays deep a scalar is looked for."""

Place = tuple[int, int | None]
"""An offset in bits, and the width of a bit-field."""


def scalars(type: TypeRef, snapshot: Snapshot, layouts: Layouts) -> list[tuple[Place, TypeRef]] | None:
    """The scalars of ``type`` in memory order; ``None`` where it has too many, or holds what has no fixed layout.

    Unions, bases and vtable pointers have no such list.
    """
    collector = _Collector(snapshot, layouts)
    return collector.found if collector.collect(type, (0, None), 0) else None


def standard_atomic(name: Name, shape: Foreign) -> TypeRef | None:
    """What an object of ``std::atomic`` holds and nothing else; ``None`` for every other type, and for wide ones.

    Up to eight bytes all compilers keep the value alone: they change it by instructions that need no lock beside it.
    """
    if re.match(r"std::(__\w+::)?atomic<", name.spelling) and shape.size in (1, 2, 4, 8) and len(shape.arguments) == 1:
        return shape.arguments[0]
    return None


class _Collector:
    """Gathers the scalars of one type; each method tells whether all of it has a fixed layout."""

    def __init__(self, snapshot: Snapshot, layouts: Layouts) -> None:
        self.found: list[tuple[Place, TypeRef]] = []
        self._snapshot = snapshot
        self._layouts = layouts

    def collect(self, type: TypeRef, place: Place, depth: int) -> bool:
        if depth > DEEPEST or len(self.found) >= MOST_SCALARS:
            return False
        match type:
            case Qualified(target, qualifiers) if "atomic" not in qualifiers:
                return self.collect(target, place, depth + 1)
            case Array(element, count, False):
                each = self._layouts.size(element)
                if each is None or count is None or count > MOST_SCALARS:
                    return False
                steps = (place[0] + 8 * each * index for index in range(count))
                return all(self.collect(element, (step, None), depth + 1) for step in steps)
            case Inline(Record() as record):
                return self._fields(record, place[0], depth)
            case Named(name) if name.kind != "enum":
                return self._named(name, place, depth)
            case _:
                self.found.append((place, type))
                return True

    def _named(self, name: Name, place: Place, depth: int) -> bool:
        match self._snapshot.described(name):
            case (Alias(target),):
                return self.collect(target, place, depth + 1)
            case (Record() as record,):
                return self._fields(record, place[0], depth)
            case (Foreign() as foreign,) if (array := standard_array(name, foreign)) is not None:
                return self.collect(array, place, depth + 1)
            case (Foreign() as foreign,) if (held := standard_atomic(name, foreign)) is not None:
                return self._atomic(held, foreign, place)
            case _:
                return False

    def _atomic(self, held: TypeRef, atomic: Foreign, place: Place) -> bool:
        """An atomic object of one scalar is that scalar, of which all accesses are atomic."""
        inside = _Collector(self._snapshot, self._layouts)
        single = inside.collect(held, (0, None), 0) and [where for where, _ in inside.found] == [(0, None)]
        if not single or self._layouts.size(held) != atomic.size:
            return False
        self.found.append((place, Qualified(inside.found[0][1], ("atomic",))))
        return True

    def _fields(self, record: Record, start: int, depth: int) -> bool:
        if record.sort == "union" or record.bases or record.virtuals or record.has_vptr:
            return False
        return record.passing != "reference" and all(
            self.collect(each.type, (start + each.offset, each.bit_size), depth + 1) for each in record.fields
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
