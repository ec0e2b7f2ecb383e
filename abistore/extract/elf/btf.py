"""BTF, the BPF Type Format (kernel documentation, ``bpf/btf.rst``), as compilers and ``pahole`` add it to libraries."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

from abistore.errors import ExtractError
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
from abistore.extract.elf.container import ElfFile
from abistore.extract.files import Exports
from abistore.extract.reader import FacetReading
from abistore.model.format_gaps import VARIANTS, WIDE_ENUMS
from abistore.model.shapes import Enumerator

SECTION: Final = ".BTF"
MAGIC: Final = 0xEB9F
HEADER: Final = 24
EM_386: Final = 3
MOST_PARTS: Final = 1 << 16

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT = range(1, 12)
FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(12, 20)

BEHIND: Final = {INT: (4, 0), ARRAY: (12, 0), VAR: (4, 0), DECL_TAG: (4, 0)} | {
    kind: (0, size) for kind, size in {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}.items()
}
"""The bytes behind a type of each kind, and those for each of its parts; none where the kind is not here."""

PLAIN: Final[dict[int, tuple[CKind, str]]] = {
    PTR: ("pointer", ""),
    TYPEDEF: ("typedef", ""),
    VOLATILE: ("qualified", "volatile"),
    CONST: ("qualified", "const"),
    RESTRICT: ("qualified", "restrict"),
    TYPE_TAG: ("slice", ""),
}
SORTS: Final = {STRUCT: "struct", UNION: "union"}


def read_btf(elf: ElfFile, exports: Exports, soname: str | None) -> FacetReading:
    """The layout facet of a library with a section ``.BTF``; missing where that is damaged."""
    try:
        parts = [_Part(elf, *each) for each in _split(elf.section(SECTION), elf.order)]
        found = [part.declarations() for part in parts]
    except ExtractError as error:
        return unreadable(exports, "BTF", error)
    lacks = (VARIANTS, WIDE_ENUMS) if any(part.lacks_wide for part in parts) else (VARIANTS,)
    return gathered_layout(found, exports, soname, evidence_from("BTF", lacks=lacks))


def _split(data: bytes, order: str) -> Iterator[tuple[bytes, bytes]]:
    """The types and the strings of each part: linkers that do not know BTF put those of object files in a row."""
    position, count = 0, 0
    while position < len(data):
        if not any(data[position : position + HEADER]):  # the rest of an alignment
            return
        if position + HEADER > len(data):
            raise ExtractError("the header is truncated")
        magic, version, _, header, types, types_size, strings, size = struct.unpack_from(
            f"{order}HBBIIIII", data, position
        )
        if magic != MAGIC or version != 1 or header < HEADER:
            raise ExtractError(f"the header at {position} is unknown")
        start, count = position + header, count + 1
        end = start + max(types + types_size, strings + size)
        if end > len(data) or count > MOST_PARTS:
            raise ExtractError(f"the part at {position} is truncated")
        yield data[start + types : start + types + types_size], data[start + strings : start + strings + size]
        position = end


class _Part:
    """What one object file has, by the numbers of its types."""

    def __init__(self, elf: ElfFile, data: bytes, strings: bytes) -> None:
        self._order = elf.order
        self._wide_floats = elf.machine == EM_386
        self._data = data
        self._strings = Strings(strings)
        self.lacks_wide = False
        self._readers: dict[int, Callable[[int, int, int, int], CType]] = {
            **dict.fromkeys((INT, FLOAT), self._basic),
            **dict.fromkeys((STRUCT, UNION), self._record),
            ARRAY: self._array,
            ENUM: self._enum,
            ENUM64: self._wide_enum,
            FUNC_PROTO: self._prototype,
        }

    def declarations(self) -> CDeclarations:
        """All of it. Raises :class:`ExtractError` where types are cut off or of an unknown kind."""
        types: dict[int, CType] = {}
        functions: list[tuple[str, int]] = []
        variables: list[tuple[str, int]] = []
        for number, (name, info, word, place) in enumerate(self._rows(), 1):
            kind = info >> 24 & 0x1F
            if kind in (FUNC, VAR):
                (functions if kind == FUNC else variables).append((self._strings.at(name), word))
            elif kind in PLAIN:
                sort, qualifier = PLAIN[kind]
                types[number] = CType(sort, self._strings.at(name), target=word, word=qualifier)
            elif kind == FWD:
                types[number] = CType("forward", self._strings.at(name), word="union" if info >> 31 else "struct")
            elif kind in self._readers:
                types[number] = self._readers[kind](name, word, info, place)
        return CDeclarations(types, functions, variables)

    def _rows(self) -> Iterator[tuple[int, int, int, int]]:
        """The name, information and size or type of each type, and where what is behind it begins."""
        position, data, layout = 0, self._data, struct.Struct(f"{self._order}III")
        while position < len(data):
            if position + layout.size > len(data):
                raise ExtractError("a type is truncated")
            name, info, word = layout.unpack_from(data, position)
            kind = info >> 24 & 0x1F
            if not INT <= kind <= ENUM64:
                raise ExtractError(f"a type is of the unknown kind {kind}")
            fixed, each = BEHIND.get(kind, (0, 0))
            position += layout.size
            behind = fixed + each * (info & 0xFFFF)
            if position + behind > len(data):
                raise ExtractError("a type is truncated")
            yield name, info, word, position
            position += behind

    def _parts(self, layout: str, info: int, place: int) -> Iterator[tuple[int, ...]]:
        each = struct.Struct(self._order + layout)
        return each.iter_unpack(self._data[place : place + each.size * (info & 0xFFFF)])

    def _basic(self, name: int, size: int, info: int, _place: int) -> CType:
        """GCC 12 writes the twelve bytes of a ``long double`` of i386 as 16."""
        if self._wide_floats and info >> 24 & 0x1F == FLOAT and size == 16:
            size = 12
        return CType("basic", self._strings.at(name), size)

    def _array(self, _name: int, _word: int, _info: int, place: int) -> CType:
        element, _, count = struct.unpack_from(f"{self._order}III", self._data, place)
        return CType("array", target=element, length=count)

    def _record(self, name: int, size: int, info: int, place: int) -> CType:
        """With ``kind_flag``, an offset has the width of a bit-field in its highest byte."""
        members = []
        for text, type, offset in self._parts("III", info, place):
            bits = offset >> 24 if info >> 31 else 0
            members.append(
                CMember(self._strings.at(text), type, offset & 0xFFFFFF if info >> 31 else offset, bits or None)
            )
        sort = SORTS[info >> 24 & 0x1F]
        return CType("record", self._strings.at(name), size, word=sort, members=tuple(members))

    def _enum(self, name: int, size: int, info: int, place: int) -> CType:
        """GCC 12 has no word for values above 32 bits, and leaves them out of an enumeration of eight bytes."""
        self.lacks_wide = self.lacks_wide or size > 4
        values = tuple(Enumerator(self._strings.at(text), value) for text, value in self._parts("Ii", info, place))
        return CType("enum", self._strings.at(name), size, word="enum", enumerators=values)

    def _wide_enum(self, name: int, size: int, info: int, place: int) -> CType:
        values = tuple(
            Enumerator(self._strings.at(text), high << 32 | low) for text, low, high in self._parts("IIi", info, place)
        )
        return CType("enum", self._strings.at(name), size, word="enum", enumerators=values)

    def _prototype(self, _name: int, result: int, info: int, place: int) -> CType:
        """More arguments may follow where the last parameter has neither name nor type."""
        found = list(self._parts("II", info, place))
        variadic = bool(found) and found[-1] == (0, 0)
        parameters = tuple(type for _, type in (found[:-1] if variadic else found))
        return CType("function", target=result, parameters=parameters, variadic=variadic)
