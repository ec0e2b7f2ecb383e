"""Sizes, alignments, holes and packing of types, computed from their members as the platform's ABI lays them out.

Sizes and alignments are in bytes, a hole's offset and length in bits. Answers are ``None`` where a type is not
described. A packed record whose members happen to lie naturally cannot be told from an ordinary one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, assert_never

import msgspec

from abistore.model.declared import Declared
from abistore.model.names import FACETS, Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Inline,
    MemberPointer,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from abistore.model.snapshot import Snapshot, Target

MAX_DEPTH: Final = 100
"""Types nested deeper by value are taken as not described: only broken evidence has them."""


class Hole(msgspec.Struct, frozen=True, order=True):
    """Bits of a record that belong to no member; ``tail`` marks padding behind the last one. In bits."""

    offset: int
    length: int
    tail: bool = False


class Layouts:
    """The sizes, alignments and padding of one snapshot's types, each worked out once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._entries = [snapshot.entries[facet] for facet in FACETS if facet != "symbol" and facet in snapshot.entries]
        self._target = snapshot.target
        self._pointer = snapshot.target.bits // 8
        self._alignments: dict[Name, int | None] = {}
        self._known: dict[Name, bool] = {}
        self._inlines: dict[int, tuple[Record, int]] = {}
        self._depth = 0
        self._last: tuple[Record, Sequence[tuple[int | None, int]]] | None = None

    def _shape(self, name: Name) -> AnyShape | None:
        found: Iterable[Mapping[Name, tuple[AnyShape, ...]]] = self._entries
        shapes = (shape for entries in found for shape in entries.get(name, ()))
        return next((shape for shape in shapes if not isinstance(shape, Declared)), None)

    # sizes

    def size(self, type: TypeRef) -> int | None:
        """The size in bytes of ``type``; ``None`` if it is not described, ``void``, a function or without a bound."""
        self._depth += 1
        try:
            return self._size(type) if self._depth < MAX_DEPTH else None
        finally:
            self._depth -= 1

    def _size(self, type: TypeRef) -> int | None:
        match type:
            case Primitive():
                return type.size or None
            case Pointer():
                return self._pointer
            case MemberPointer():
                target = type.target.target if isinstance(type.target, Qualified) else type.target
                return self._pointer * (2 if isinstance(target, Procedure) else 1)
            case Array():
                element = self.size(type.element)
                return None if element is None or type.count is None else element * type.count
            case Qualified():
                return self.size(type.target)
            case Inline():
                return type.shape.size
            case Named():
                return self._named_size(type.name)
            case Procedure() | Special():
                return None
            case _:
                assert_never(type)

    def _named_size(self, name: Name) -> int | None:
        match self._shape(name):
            case Foreign(size=None) as foreign if (array := standard_array(name, foreign)) is not None:
                return self.size(array)
            case Record(size=found) | Enum(size=found) | Foreign(size=found):
                return found
            case Alias(target=target):
                return self.size(target)
        return None

    # alignments

    def alignment(self, type: TypeRef) -> int | None:
        """The alignment in bytes of ``type`` as a member; ``None`` if it is not described."""
        self._depth += 1
        try:
            return self._alignment(type) if self._depth < MAX_DEPTH else None
        finally:
            self._depth -= 1

    def _alignment(self, type: TypeRef) -> int | None:
        match type:
            case Primitive():
                return primitive_alignment(type, self._target)
            case Pointer() | MemberPointer():
                return self._pointer
            case Array(vector=True):
                return self._vector_alignment(type)
            case Array():
                return self.alignment(type.element)
            case Qualified():
                return self._qualified_alignment(type)
            case Inline(shape=Record() as shape):
                return self._inline_alignment(shape)
            case Inline(shape=Enum() as shape):
                return self._enum_alignment(shape)
            case Named():
                if type.name not in self._alignments:
                    self._alignments[type.name] = self._named_alignment(type.name)
                return self._alignments[type.name]
            case Procedure() | Special() | Inline():
                return None
            case _:
                assert_never(type)

    def _inline_alignment(self, shape: Record) -> int:
        if id(shape) not in self._inlines:
            self._inlines[id(shape)] = shape, self.record_alignment(shape)
        return self._inlines[id(shape)][1]

    def _qualified_alignment(self, type: Qualified) -> int | None:
        natural = self.alignment(type.target)
        length = self.size(type.target)
        if natural is None or "atomic" not in type.qualifiers or length not in (1, 2, 4, 8, 16):
            return natural
        return max(natural, length)

    def _vector_alignment(self, type: Array) -> int | None:
        length = self.size(type)
        return None if not length else min(_power_of_two(length), MOST_VECTOR.get(self._target.machine, length))

    def _named_alignment(self, name: Name) -> int | None:
        match self._shape(name):
            case Record() as record:
                return self.record_alignment(record)
            case Enum() as enum:
                return self._enum_alignment(enum)
            case Foreign(alignment=None) as foreign if (array := standard_array(name, foreign)) is not None:
                return self.alignment(array)
            case Foreign(alignment=found):
                return found
            case Alias(target=target):
                return self.alignment(target)
        return None

    def _enum_alignment(self, shape: Enum) -> int | None:
        if shape.underlying is not None:
            return self.alignment(shape.underlying)
        return primitive_alignment(Primitive("int", shape.size), self._target)

    def record_alignment(self, record: Record) -> int:
        """The alignment in bytes of ``record`` itself: what ``alignas`` asks for, or its members do."""
        if record.packed and record.alignment:
            return record.alignment
        natural = self._natural(record)
        if self._fits(record, natural):
            return max(natural, record.alignment or 1)
        if record.alignment:
            return record.alignment
        least = self._least(record)
        while natural > least and not self._fits(record, natural):
            natural //= 2
        return natural

    def _least(self, record: Record) -> int:
        """What even a packed record is aligned to: compilers pack members, and never bases."""
        bases = [(base.offset, self.alignment(base.type)) for base in record.bases]
        kept = [found for offset, found in bases if found and offset is not None and offset % (8 * found) == 0]
        return max([1, *kept])

    def knows_alignment(self, record: Record) -> bool:
        """Whether the alignment of every member and base is described: an unknown one may ask for more."""
        types = [field.type for field in record.fields] + [base.type for base in record.bases]
        return all(map(self._knows, types))

    def _knows(self, type: TypeRef) -> bool:
        match type:
            case Qualified(target=inner) | Array(element=inner):
                return self._knows(inner)
            case Inline(shape=Record() as shape):
                return self.knows_alignment(shape)
            case Named(name=name):
                if name not in self._known:
                    self._known[name] = True  # what embeds itself, as no compiler writes it, ends here
                    found = self._resolved(type)
                    known = (
                        self.knows_alignment(found) if isinstance(found, Record) else self.alignment(type) is not None
                    )
                    self._known[name] = known
                return self._known[name]
            case _:
                return self.alignment(type) is not None

    def _natural(self, record: Record) -> int:
        found = [alignment for _, alignment in self._parts(record)]
        return max([1, *([self._pointer] if self._has_pointer(record) else []), *found])

    def _has_pointer(self, record: Record) -> bool:
        return record.has_vptr or any(base.virtual for base in record.bases)

    def _parts(self, record: Record) -> Sequence[tuple[int | None, int]]:
        """(Offset in bits or ``None``, alignment in bytes) of each member and base that is described."""
        if self._last is None or self._last[0] is not record:  # several questions are asked of one record
            self._last = record, list(self._aligned_parts(record))
        return self._last[1]

    def _aligned_parts(self, record: Record) -> Iterator[tuple[int | None, int]]:
        for field in record.fields:
            found = self.alignment(field.type)
            if found is not None:
                yield (field.offset if field.bit_size is None else None), found
        for base in record.bases:
            found = self.alignment(base.type)
            if found is not None:
                yield base.offset, found

    def _fits(self, record: Record, most: int) -> bool:
        """Whether the end and every part lie at a multiple of their alignment, at most ``most``."""
        if record.size % most:
            return False
        if any(offset is not None and offset % (8 * min(found, most)) for offset, found in self._parts(record)):
            return False
        return not any(self._straddles(field.type, field.offset, field.bit_size) for field in record.fields)

    def _straddles(self, type: TypeRef, offset: int, bits: int | None) -> bool:
        """Whether a bit-field crosses the storage unit of its type, as only packed ones do."""
        if bits is None:
            return False
        unit = 8 * (self.size(type) or 0)
        return 0 < bits <= unit and offset % unit + bits > unit

    def is_packed(self, record: Record) -> bool:
        """Whether a member lies where its natural alignment forbids it, or the size is no multiple of it."""
        return not self._fits(record, self._natural(record))

    # holes

    def holes(self, record: Record) -> tuple[Hole, ...]:
        """The padding in ``record``, by offset. None is known behind its last member if virtual bases lie there."""
        if not (record.fields or record.bases or record.has_vptr):
            return ()
        found: list[Hole] = []
        end = 0
        for start, stop in sorted(self._covered(record)):
            if start > end:
                found.append(Hole(end, start - end))
            end = max(end, stop)
        if end < record.size * 8 and end and not self._virtual_bases(record):
            found.append(Hole(end, record.size * 8 - end, tail=True))
        return tuple(found)

    def _covered(self, record: Record) -> Iterator[tuple[int, int]]:
        if self._has_pointer(record):
            yield 0, self._pointer * 8
        for field in record.fields:
            length = field.bit_size if field.bit_size is not None else 8 * (self.size(field.type) or 0)
            yield field.offset, field.offset + length
        for base in record.bases:
            if base.offset is not None and not self._is_empty(base.type):
                yield base.offset, base.offset + 8 * (self.size(base.type) or 0)

    def _resolved(self, type: TypeRef) -> AnyShape | None:
        for _ in range(MAX_DEPTH):
            match type:
                case Qualified(target=target):
                    type = target
                case Named(name=name):
                    shape = self._shape(name)
                    if not isinstance(shape, Alias):
                        return shape
                    type = shape.target
                case Inline(shape=inline):
                    return inline
                case _:
                    return None
        return None

    def _is_empty(self, type: TypeRef) -> bool:
        """Whether a base of ``type`` takes no room: nothing in it, or in its own bases, does."""
        for shape in self._lineage(type):
            if not isinstance(shape, Record) or shape.fields or self._has_pointer(shape):
                return False
        return True

    def _virtual_bases(self, record: Record) -> bool:
        shapes = (record, *(shape for base in record.bases for shape in self._lineage(base.type)))
        return any(base.virtual for shape in shapes if isinstance(shape, Record) for base in shape.bases)

    def _lineage(self, type: TypeRef) -> Iterator[AnyShape | None]:
        """What ``type`` is, and each class that it derives from, once."""
        seen: set[TypeRef] = set()
        pending = [type]
        while pending:
            each = pending.pop()
            if each not in seen:
                seen.add(each)
                shape = self._resolved(each)
                yield shape
                pending += [base.type for base in shape.bases] if isinstance(shape, Record) else ()


# --- platforms ----------------------------------------------------------------------------------------------------

MOST_SCALAR: Final = {"i386": 4, "s390": 8, "s390x": 8, "arm": 8, "armhf": 8, "m68k": 2}
"""The largest alignment of an arithmetic member, where the machine's psABI has a limit."""

MOST_VECTOR: Final = {"aarch64": 16, "arm": 8, "armhf": 8}
"""The largest alignment of a SIMD vector, where there is one."""

ALWAYS_NATURAL: Final = frozenset(["__float128", "_Float128", "_Float64x"])
"""Types that even i386 aligns to their size."""


def primitive_alignment(type: Primitive, target: Target) -> int | None:
    """The alignment in bytes of a built-in type as a member on ``target``; ``None`` for ``void``."""
    if not type.size:
        return None
    spelling, length = type.spelling, type.size
    if spelling.startswith("_Complex "):
        spelling, length = spelling.removeprefix("_Complex "), length // 2
    most = MOST_SCALAR.get(target.machine, 16)
    if "_BitInt" in spelling:
        return min(_power_of_two(length), most, 16 if target.machine == "aarch64" else 8)
    if spelling in ALWAYS_NATURAL and target.machine == "i386":
        most = 16
    return min(_power_of_two(length), most)


def _power_of_two(length: int) -> int:
    """The largest power of two that divides ``length``: 12-byte ``long double`` is aligned to 4."""
    return length & -length


def standard_array(name: Name, shape: Foreign) -> Array | None:
    """The array that an object of ``std::array`` is and nothing else; ``None`` for every other type."""
    if re.match(r"std::(__\w+::)?array<", name.spelling):
        match shape.arguments:
            case (element, Special(spelling=count)) if re.fullmatch(r"[1-9][0-9]{0,17}", count):
                return Array(element, int(count))
    return None
