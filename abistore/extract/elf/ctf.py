"""CTF, the Compact C Type Format of GCC and binutils (``ctf.h``), as the linker leaves it in a library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.elf.c_types import (
    CDeclarations,
    CKind,
    CMember,
    CType,
    Strings,
    evidence_from,
    gathered_layout,
    unreadable,
)
from abistore.extract.elf.container import MOST_TIMES, DynamicSection, ElfFile
from abistore.extract.elf.symbols import SHN_ABS, SHN_UNDEF, DynamicSymbol, read_rows
from abistore.extract.files import Exports, text_at
from abistore.extract.reader import FacetReading
from abistore.model.format_gaps import WIDE_ENUMS
from abistore.model.shapes import Enumerator

SECTION: Final = ".ctf"
MAGIC, ARCHIVE_MAGIC = 0xDFF2, 0x8B47F2A4D7623EEB
LITTLE: Final = MAGIC.to_bytes(2, "little")
VERSION_2, VERSION_3 = 3, 4
COMPRESSED, NEW_FUNCTIONS, FROM_DYNSTR = 0x1, 0x2, 0x8
MOST_PARTS: Final = 1 << 16
SHARED: Final = ".ctf"
"""The name in an archive of the part that has the types of all."""

CHILD: Final = 1 << 31
"""The bit of the numbers of types that a part has beside those of the shared one."""

EXTERNAL: Final = 1 << 31
"""The bit of names that stand in the string table of the symbols."""

LARGE_STRUCT: Final = 536870912
LARGE_TYPE: Final = 0xFFFFFFFF

(INTEGER, FLOAT, POINTER, ARRAY, FUNCTION, STRUCT, UNION, ENUM, FORWARD, TYPEDEF, VOLATILE, CONST, RESTRICT, SLICE) = (
    range(1, 15)
)
SORTS: Final = {STRUCT: "struct", UNION: "union", ENUM: "enum"}
PLAIN: Final[dict[int, tuple[CKind, str]]] = {
    POINTER: ("pointer", ""),
    TYPEDEF: ("typedef", ""),
    VOLATILE: ("qualified", "volatile"),
    CONST: ("qualified", "const"),
    RESTRICT: ("qualified", "restrict"),
}
STT_OBJECT, STT_FUNC = 1, 2
UNTYPED: Final = frozenset({"_START_", "_END_"})


def read_ctf(elf: ElfFile, exports: Exports, soname: str | None) -> FacetReading:
    """The layout facet of a library with a section ``.ctf``; missing where that is damaged."""
    try:
        found = list(_declarations(elf))
    except ExtractError as error:
        return unreadable(exports, "CTF", error)
    return gathered_layout(found, exports, soname, evidence_from("CTF", lacks=("Enum.size", WIDE_ENUMS)))


class _Symbols(NamedTuple):
    """The rows of the dynamic symbol table, and the names of either table, which the section does not repeat."""

    rows: list[DynamicSymbol]
    dynamic: Strings
    static: Strings


def _declarations(elf: ElfFile) -> Iterator[CDeclarations]:
    """What each part declares; one that stands beside the shared part uses the types of that as well."""
    dynamic = DynamicSection.of(elf)
    rows = list(read_rows(dynamic)) if dynamic else []
    symbols = _Symbols(rows, Strings(elf.section(".dynstr")), Strings(elf.section(".strtab")))
    shares = False
    for name, part in _parts(elf, symbols):
        types = part.types(CHILD if shares else 0)
        yield CDeclarations(types, list(part.objects(STT_FUNC)), list(part.objects(STT_OBJECT)), shares)
        shares = shares or name == SHARED


def _parts(elf: ElfFile, symbols: _Symbols) -> Iterator[tuple[str, _Part]]:
    """The parts by name, the shared one first. Linkers that do not know CTF put those of object files in a row."""
    data = memoryview(elf.section(SECTION))
    if len(data) >= 8 and int.from_bytes(data[:8], "little") == ARCHIVE_MAGIC:
        found = sorted(_members(data.tobytes()), key=lambda each: (each[0] != SHARED, each[0]))
        yield from ((name, _Part(elf, memoryview(part), symbols)) for name, part in found)
        return
    position, count = 0, 0
    while position < len(data) and any(data[position : position + 4]):
        part = _Part(elf, data[position:], symbols)
        position, count = position + part.stored, count + 1
        if count > MOST_PARTS:
            raise ExtractError("it has too many parts")
        yield "", part


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of an archive, all numbers of which are little-endian."""
    try:
        _, _, count, names, parts = struct.unpack_from("<5Q", data)
        if count > MOST_PARTS:
            raise ExtractError("it has too many parts")
        for name, place in struct.iter_unpack("<QQ", data[40 : 40 + 16 * count]):
            (size,) = struct.unpack_from("<Q", data, parts + place)
            start = parts + place + 8
            if start + size > len(data):
                raise ExtractError("a part is truncated")
            yield text_at(data, names + name), data[start : start + size]
    except (struct.error, OverflowError) as error:
        raise ExtractError("its archive is damaged") from error


class _Offsets(NamedTuple):
    """Where the parts of a dictionary begin, behind its header."""

    labels: int
    objects: int
    functions: int
    object_names: int
    function_names: int
    variables: int
    types: int
    strings: int
    size: int


class _Part:
    """One dictionary: the types of an object file, or of several that the linker joined."""

    def __init__(self, elf: ElfFile, data: memoryview, symbols: _Symbols) -> None:
        self._order = "<" if data[:2] == LITTLE else ">"  # of the machine that linked, whatever the target's is
        self._rows = symbols.rows
        self.stored = len(data)
        self._flags, self._offsets, header = _header(data, self._order)
        self._body = self._expanded(data, header, elf)
        self._check()
        offsets = self._offsets
        self._strings = Strings(self._body[offsets.strings : offsets.strings + offsets.size])
        self._external = symbols.dynamic if self._flags & FROM_DYNSTR else symbols.static
        self._readers: dict[int, Callable[[str, int, int, int], CType]] = {
            **dict.fromkeys((INTEGER, FLOAT), lambda name, size, *_: CType("basic", name, size)),
            **dict.fromkeys((STRUCT, UNION), self._record),
            ARRAY: self._array,
            FUNCTION: self._function,
            ENUM: self._enum,
            SLICE: self._slice,
        }

    def _expanded(self, data: memoryview, header: int, elf: ElfFile) -> bytes:
        size = self._offsets.strings + self._offsets.size
        if not self._flags & COMPRESSED:
            self.stored = min(header + size, len(data))
            return data[header : header + size].tobytes()
        if size > min(elf.max_bytes, MOST_TIMES * len(data) + 64):
            raise LimitExceeded(f"{elf.path}: {SECTION} of {len(data):,} bytes declares {size:,}")
        inflate = zlib.decompressobj()
        try:
            body = inflate.decompress(data[header:], size + 1)
        except zlib.error as error:
            raise ExtractError(f"its compressed data are corrupt: {error}") from error
        self.stored = len(data) - len(inflate.unused_data)
        return body

    def _check(self) -> None:
        found = self._offsets
        if list(found[:-1]) != sorted(found[:-1]) or found.strings + found.size != len(self._body):
            raise ExtractError("it is truncated, or its header contradicts itself")

    def _name(self, reference: int) -> str:
        strings = self._external if reference & EXTERNAL else self._strings
        return strings.at(reference & ~EXTERNAL)

    def objects(self, type: int) -> Iterator[tuple[str, int]]:
        """The functions, or the data, each with the number of its type: by name, or in the order of the symbols."""
        found = self._offsets
        if type == STT_OBJECT:
            place, end, index, index_end = found.objects, found.functions, found.object_names, found.function_names
        elif self._flags & NEW_FUNCTIONS:
            place, end, index, index_end = found.functions, found.object_names, found.function_names, found.variables
        else:
            return
        numbers = self._words(place, end)
        if index < index_end:
            names = [self._name(each) for each in self._words(index, index_end)]
        else:
            names = [row.name for row in self._rows if row.type == type and _has_place(row)]
        yield from ((name, number) for name, number in zip(names, numbers, strict=False) if number)

    def _words(self, start: int, end: int) -> tuple[int, ...]:
        return struct.unpack_from(f"{self._order}{(end - start) // 4}I", self._body, start)

    def types(self, base: int) -> dict[int, CType]:
        """The types by number, which count up from ``base`` + 1. Raises :class:`ExtractError`."""
        types: dict[int, CType] = {}
        place, end, number = self._offsets.types, self._offsets.strings, base
        while place < end:
            number += 1
            name, info, word = self._unpack("III", place)
            place += 12
            kind, count = info >> 26, info & 0xFFFFFF
            size = word
            if word == LARGE_TYPE and kind in (INTEGER, FLOAT, STRUCT, UNION, ENUM, ARRAY, SLICE):
                high, low = self._unpack("II", place)
                place, size = place + 8, high << 32 | low
            behind = _behind(kind, count, size)
            if place + behind > end:
                raise ExtractError("a type is truncated")
            types[number] = self._type(kind, self._name(name), size, count, place)
            place += behind
        return types

    def _unpack(self, layout: str, place: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self._order + layout, self._body, place)
        except struct.error as error:
            raise ExtractError("a type is truncated") from error

    def _type(self, kind: int, name: str, word: int, count: int, place: int) -> CType:
        if kind in PLAIN:
            sort, qualifier = PLAIN[kind]
            return CType(sort, name, target=word, word=qualifier)
        if kind == FORWARD:
            return CType("forward", name, word=SORTS.get(word, "struct"))
        if kind in (STRUCT, UNION):
            return self._record(name, word, count, place)._replace(word=SORTS[kind])
        reader = self._readers.get(kind)
        return reader(name, word, count, place) if reader else CType("unknown")

    def _each(self, layout: str, count: int, place: int) -> Iterator[tuple[int, ...]]:
        each = struct.Struct(self._order + layout)
        return each.iter_unpack(self._body[place : place + each.size * count])

    def _array(self, _name: str, _size: int, _count: int, place: int) -> CType:
        element, _, count = self._unpack("III", place)
        return CType("array", target=element, length=count)

    def _function(self, _name: str, result: int, count: int, place: int) -> CType:
        """A last parameter of no type stands for further arguments."""
        parameters = self._unpack(f"{count}I", place)
        variadic = bool(parameters) and not parameters[-1]
        return CType("function", target=result, parameters=parameters[: count - variadic], variadic=variadic)

    def _record(self, name: str, size: int, count: int, place: int) -> CType:
        if size < LARGE_STRUCT:
            rows = ((text, offset, type) for text, offset, type in self._each("III", count, place))
        else:
            rows = ((text, high << 32 | low, type) for text, high, type, low in self._each("IIII", count, place))
        members = tuple(CMember(self._name(text), type, offset) for text, offset, type in rows)
        return CType("record", name, size, members=members)

    def _enum(self, name: str, size: int, count: int, place: int) -> CType:
        values = tuple(Enumerator(self._name(text), value) for text, value in self._each("Ii", count, place))
        return CType("enum", name, size, word="enum", enumerators=values)

    def _slice(self, _name: str, _size: int, _count: int, place: int) -> CType:
        target, offset, bits = self._unpack("IHH", place)
        return CType("slice", size=offset, target=target, length=bits)


def _behind(kind: int, count: int, size: int) -> int:
    """The bytes behind a type that has ``count`` parts."""
    match kind:
        case _ if kind in (STRUCT, UNION):
            return count * (12 if size < LARGE_STRUCT else 16)
        case _ if kind == FUNCTION:
            return 4 * (count + count % 2)
        case _ if kind in (INTEGER, FLOAT):
            return 4
        case _ if kind == ARRAY:
            return 12
        case _ if kind == ENUM:
            return 8 * count
        case _ if kind == SLICE:
            return 8
    return 0


def _has_place(row: DynamicSymbol) -> bool:
    """Whether the linker keeps a place for a symbol's type: not for undefined ones, nor for marks of no address."""
    marks = row.type == STT_OBJECT and row.section == SHN_ABS and row.value == 0
    return bool(row.name) and row.section != SHN_UNDEF and row.name not in UNTYPED and not marks


def _header(data: memoryview, order: str) -> tuple[int, _Offsets, int]:
    """The flags, the offsets, and the size of the header, which has no indices before version 3."""
    if len(data) < 4:
        raise ExtractError("the header is truncated")
    magic, version, flags = struct.unpack_from(f"{order}HBB", data)
    if magic != MAGIC or version not in (VERSION_2, VERSION_3):
        raise ExtractError("the header is unknown")
    words = 10 if version == VERSION_3 else 9
    size = 4 + 4 * (words + 2 if version == VERSION_3 else words)
    if len(data) < size:
        raise ExtractError("the header is truncated")
    if version == VERSION_3:
        _, _, _, *found = struct.unpack_from(f"{order}12I", data, 4)
        return flags, _Offsets(*found), size
    _, _, labels, objects, functions, variables, types, strings, length = struct.unpack_from(f"{order}9I", data, 4)
    offsets = _Offsets(labels, objects, functions, variables, variables, variables, types, strings, length)
    return flags & COMPRESSED, offsets, size
