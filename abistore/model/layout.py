"""Sizes, alignments, holes and padding of types, computed from their members.

Sizes and alignments are in bytes, a hole's offset and length in bits. Answers are ``None`` where a type is not
described. A packed record whose members happen to lie naturally cannot be told from an ordinary one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, assert_never

import msgspec

from abistore.model.declarations import FACETS, Declared, Name
from abistore.model.format_gaps import unrecorded_by
from abistore.model.names.symbols import TYPEINFO, VTABLE, class_symbol, member_prefixes
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from abistore.model.snapshot import Snapshot, Target, Variants, only_described
from abistore.model.words import counted


def is_open_by_parts(record: Record) -> bool:
    """Whether a record is no plain old data as its own parts show: what derives from it may use its tail padding.

    Bases, virtual functions, members that are not public, references, and special members that are not trivial do. What
    is not copied at all may be plain old data.
    """
    if record.bases or record.virtuals or record.has_vptr or (record.passing == "reference" and not record.deleted):
        return True
    return any(field.access != "public" or _is_reference(field.type) for field in record.fields)


def _is_reference(type: TypeRef) -> bool:
    bare = type.target if isinstance(type, Qualified) else type
    return isinstance(bare, Pointer) and bare.sort != "*"


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


STRANGERS: Final = "headers and binary do not match"
STRANGERS_HINT: Final = "pass the headers and the macros (--define) of the library's build"


def disagreeing(snapshot: Snapshot) -> frozenset[Name]:
    """The types of which headers and debug information say different things."""
    layout = snapshot.entries.get("layout", {})
    both = (name for name in snapshot.entries.get("source", {}) if name in layout)
    return frozenset(name for name in both if disagreement(snapshot, name))


def strangers(snapshot: Snapshot) -> str:
    """What tells that the headers are another library's, release's or configuration's; empty where nothing does."""
    names = sorted(disagreeing(snapshot))
    if not names:
        return ""
    found = disagreement(snapshot, names[0])
    assert found is not None
    others = f", and {counted(len(names) - 1, 'other type')} too" if len(names) > 1 else ""
    said = f"{names[0].spelling} is {found[0]} in the headers and {found[1]} in the debug information{others}"
    return f"{STRANGERS}: {said}"


def disagreement(snapshot: Snapshot, name: Name) -> tuple[str, str] | None:
    """What the headers say of ``name``, and what debug information says instead; ``None`` where they agree.

    A dummy definition in a header says nothing, and where one of them has several definitions one may fit.
    """
    source = snapshot.variants("source", name)
    if any("dummy" in shape.traits for shape in source if isinstance(shape, Declared)):
        return None
    header, binary = only_described(source), only_described(snapshot.variants("layout", name))
    match header, binary:
        case Record(), Record() if header.size != binary.size:
            return f"{header.size} bytes", f"{binary.size} bytes"
        case Record(), Record():
            return _fields(header, binary) or _alignments(header, binary, snapshot)
        case Enum(), Enum():
            values = {each.name: each.value for each in binary.enumerators}
            differing = [each for each in header.enumerators if values.get(each.name, each.value) != each.value]
            return next(((f"{e.name} = {e.value}", f"{e.name} = {values[e.name]}") for e in differing), None)
        case _:
            return None


def _alignments(header: Record, binary: Record, snapshot: Snapshot) -> tuple[str, str] | None:
    """The alignments, where the header asks for more than debug information, which records what is asked for, shows."""
    if not header.alignment or binary.alignment:
        return None
    if "Record.alignment" in unrecorded_by(snapshot.evidence_of("layout")):
        return None
    layouts = Layouts(snapshot)
    if not layouts.knows_alignment(binary) or header.alignment <= layouts.record_alignment(binary):
        return None
    said = [f"aligned to {counted(each, 'byte')}" for each in (header.alignment, layouts.record_alignment(binary))]
    return said[0], said[1]


def _fields(header: Record, binary: Record) -> tuple[str, str] | None:
    offsets = {field.name: field.offset for field in binary.fields if field.name}
    for field in header.fields:
        other = offsets.get(field.name, field.offset)
        if other != field.offset:
            return f"{field.name} at offset {field.offset // 8}", f"{field.name} at offset {other // 8}"
    return None


UNDESCRIBED_HINT: Final = "build with -femit-class-debug-always (GCC) or -fstandalone-debug (Clang)"

TABLES = (TYPEINFO, VTABLE)


def undescribed_classes(snapshot: Snapshot, has_methods: Callable[[Name], bool]) -> frozenset[Name]:
    """The classes that are only declared in the debug information, although headers define them.

    Compilers leave the definition of a class with a vtable out where another unit is to emit the vtable, and none may
    be. A class that has members or a table cannot be only declared. What another library defines is left to that.
    """
    declared = declared_only(snapshot)
    shown = [name for name, shapes in declared.items() if any(_is_defined(shape) for shape in shapes)]
    symbols = snapshot.entries.get("symbol", {})
    exported = {
        name
        for name in declared
        if any(Name("variable", symbol) in symbols for symbol in _tables_of(name)) or has_methods(name)
    }
    return frozenset({*exported, *own_classes(shown, snapshot)})


def declared_only(snapshot: Snapshot) -> Mapping[Name, Variants]:
    """The classes and handles that the debug information declares and does not describe."""
    return {
        name: shapes
        for name, shapes in snapshot.entries.get("layout", {}).items()
        if name.kind == "record" and isinstance(shapes[0], Opaque) and all(isinstance(each, Opaque) for each in shapes)
    }


def methods_in(snapshot: Snapshot) -> Callable[[Name], bool]:
    """Whether the debug information describes member functions of a class that the library exports."""

    @cache
    def owners() -> frozenset[Name]:
        functions = (each for shapes in snapshot.entries.get("layout", {}).values() for each in shapes)
        return frozenset(each.method.owner for each in functions if isinstance(each, Function) and each.method)

    return lambda name: name in owners()


def told_undescribed(names: Collection[Name]) -> str:
    """The sentence about such classes."""
    return f"the debug information only declares {counted(len(names), 'class', 'classes')} with members or tables"


def _is_defined(shape: object) -> bool:
    return isinstance(shape, Opaque) and shape.defined


def own_classes(names: Collection[Name], snapshot: Snapshot) -> Iterator[Name]:
    """Those of ``names`` of which the library imports neither a member nor a table: no other library defines them."""
    symbols = snapshot.entries.get("symbol", {}) if names else {}
    imports = sorted(each.spelling for each in symbols if each.kind == "import")
    for name in names:
        tables = tuple(_tables_of(name))
        asked = (*tables, *(member_prefixes(tables[-1]) if tables else ()))
        if not any(_has_prefix(imports, each) for each in asked):
            yield name


def _has_prefix(sorted_names: Sequence[str], prefix: str) -> bool:
    """Whether one of the names begins so; the first that does stands where the prefix would."""
    at = bisect_left(sorted_names, prefix)
    return any(each.startswith(prefix) for each in sorted_names[at : at + 1])


def _tables_of(name: Name) -> Iterator[str]:
    """The symbols of a class's vtable and type information; none for a template, whose name is mangled otherwise."""
    if "<" in name.spelling or "(" in name.spelling:
        return
    yield from (class_symbol(prefix, name.spelling) for prefix in TABLES)
