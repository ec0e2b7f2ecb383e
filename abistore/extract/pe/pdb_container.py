"""The streams, type records and symbols of a PDB file."""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.files import InputFile


class MalformedPdb(ExtractError):
    """A PDB file contradicts itself."""


@contextmanager
def malformed_is_an_error(name: str) -> Iterator[None]:
    """Turns what decoding damaged bytes raises into :class:`MalformedPdb`."""
    try:
        yield
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MalformedPdb(
            f"{name}: the PDB file is corrupt: {error}", "rebuild the library and its PDB file"
        ) from error


MODIFIER, POINTER, PROCEDURE, MEMBER_FUNCTION, ARGUMENTS = 0x1001, 0x1002, 0x1008, 0x1009, 0x1201
FIELDS, BIT_FIELD, METHODS = 0x1203, 0x1205, 0x1206
ARRAY, CLASS, STRUCTURE, UNION, ENUM, INTERFACE = 0x1503, 0x1504, 0x1505, 0x1506, 0x1507, 0x1519
FUNCTION_ID, MEMBER_FUNCTION_ID = 0x1601, 0x1602

BASE, VIRTUAL_BASE, INDIRECT_BASE, CONTINUATION, VIRTUAL_TABLE = 0x1400, 0x1401, 0x1402, 0x1404, 0x1409
ENUMERATOR, MEMBER, STATIC_MEMBER, OVERLOADS, NESTED, METHOD = 0x1502, 0x150D, 0x150E, 0x150F, 0x1510, 0x1511
NESTED_WITH_ACCESS, INTERFACE_BASE = 0x1512, 0x151A
"""Linkers write nested types without access (``NESTED``)."""

RECORDS: Final = frozenset({CLASS, STRUCTURE, UNION, INTERFACE})
DEFINED: Final = RECORDS | {ENUM}
FORWARD: Final = 0x80
"""The flag of records that are declared only."""

_NUMBERS: Final = {
    **{0x8000: struct.Struct("<b"), 0x8001: struct.Struct("<h"), 0x8002: struct.Struct("<H")},
    **{0x8003: struct.Struct("<i"), 0x8004: struct.Struct("<I"), 0x8009: struct.Struct("<q")},
    0x800A: struct.Struct("<Q"),
}
_WIDE: Final = {0x8017: True, 0x8018: False}
_SHORT: Final = struct.Struct("<H")


def number(data: bytes, at: int) -> tuple[int, int]:
    """A number of any width, and the place behind it."""
    (value,) = _SHORT.unpack_from(data, at)
    if value < 0x8000:
        return value, at + 2
    if value in _WIDE:
        return int.from_bytes(data[at + 2 : at + 18], "little", signed=_WIDE[value]), at + 18
    layout = _NUMBERS.get(value)
    if layout is None:
        raise IndexError(f"a number of the unknown form {value:#x}")
    return layout.unpack_from(data, at + 2)[0], at + 2 + layout.size


def text(data: bytes, at: int) -> tuple[str, int]:
    """A zero-terminated text, and the place behind it."""
    end = data.find(b"\0", at)
    end = end if end >= 0 else len(data)
    return data[at:end].decode("utf-8", "backslashreplace"), end + 1


def raw_text(data: bytes, at: int) -> bytes:
    """A zero-terminated text as it is stored."""
    end = data.find(b"\0", at)
    return data[at : end if end >= 0 else len(data)]


MAGIC: Final = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0"
ABSENT: Final = 0xFFFFFFFF
BLOCK_SIZES: Final = frozenset({512, 1024, 2048, 4096, 8192, 16384, 32768})
MOST_STREAMS: Final = 1 << 16

_SUPERBLOCK: Final = struct.Struct("<32sIIIIII")


class PdbContainer:
    """The streams of one PDB file, read on demand and not kept.

    Raises :class:`UnknownFormat` where the file is no PDB file, :class:`MalformedPdb` where it contradicts itself. All
    streams together may be read about four times as long as the file: a damaged directory lists blocks repeatedly.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        if not file.head.startswith(MAGIC) or file.size < _SUPERBLOCK.size:
            raise UnknownFormat(f"{file.path}: not a PDB file of version 7", "create it with a current linker")
        _, self._block, _, _, length, _, place = _SUPERBLOCK.unpack(file.read_at(0, _SUPERBLOCK.size))
        if self._block not in BLOCK_SIZES or length > file.size:
            raise MalformedPdb(f"{file.path}: the PDB file is corrupt: its first block contradicts itself")
        self._left = 4 * file.size + (1 << 20)
        count = -(-length // self._block)
        blocks = struct.unpack(f"<{count}I", file.read_at(place * self._block, 4 * count))
        directory = self._gathered(blocks, length)
        (number,) = struct.unpack_from("<I", directory)
        if number > MOST_STREAMS:
            raise MalformedPdb(f"{file.path}: the PDB file is corrupt: it claims {number:,} streams")
        self._sizes: tuple[int, ...] = struct.unpack_from(f"<{number}I", directory, 4)
        self._directory = directory
        self._starts: list[int] = []
        start = 4 + 4 * number
        for size in self._sizes:
            self._starts.append(start)
            start += 4 * -(-(0 if size == ABSENT else size) // self._block)

    def stream(self, number: int) -> bytes:
        """The contents of a stream; empty where there is none of this number."""
        if number >= len(self._sizes) or self._sizes[number] in (0, ABSENT):
            return b""
        size = self._sizes[number]
        if size > self.file.size:
            raise MalformedPdb(f"{self.file.path}: the PDB file is corrupt: stream {number} is longer than the file")
        count = -(-size // self._block)
        return self._gathered(struct.unpack_from(f"<{count}I", self._directory, self._starts[number]), size)

    def _gathered(self, blocks: tuple[int, ...], size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise MalformedPdb(f"{self.file.path}: the PDB file is corrupt: its streams share their blocks")
        pieces = []
        at, block = 0, self._block
        while at < len(blocks):
            run = at + 1
            while run < len(blocks) and blocks[run] == blocks[run - 1] + 1:
                run += 1
            wanted = min((run - at) * block, size - at * block)
            pieces.append(self.file.read_at(blocks[at] * block, wanted))
            at = run
        return b"".join(pieces)


_TYPE_HEADER: Final = struct.Struct("<IIIII")
_LEAF: Final = struct.Struct("<HH")

_WIDER: Final = {0x1608: CLASS, 0x1609: STRUCTURE, 0x160A: UNION, 0x160B: INTERFACE}
"""Records of newer compilers (``LF_CLASS2``, ...), which hold the same in another order."""

_BEFORE_SIZE: Final = {UNION: 8, ENUM: 12}
"""Where the size, or the name of an enumeration, stands in a record; 16 in all others."""


class TypeRecords:
    """The records of one type stream. Numbers below :attr:`first` are built-in types and in no record."""

    def __init__(self, stream: bytes) -> None:
        self._data = stream
        _, header, first, end, size = _TYPE_HEADER.unpack_from(stream)
        self.first: int = first
        if header < _TYPE_HEADER.size or header + size > len(stream) or end < first:
            raise MalformedPdb("the PDB file is corrupt: its type stream contradicts itself")
        self._starts = array("I", self._places(header, header + size))
        self._definitions: dict[bytes, int] | None = None

    def _places(self, at: int, end: int) -> Iterator[int]:
        data, unpack = self._data, _LEAF.unpack_from
        while at + 4 <= end:
            yield at
            at += 2 + max(unpack(data, at)[0], 2)

    def __contains__(self, index: int) -> bool:
        return self.first <= index < self.first + len(self._starts)

    def record(self, index: int) -> tuple[int, bytes]:
        """The leaf of a record and what stands behind it. Raises :class:`IndexError` where there is none."""
        if index not in self:
            raise IndexError(f"there is no type {index:#x}")
        start = self._starts[index - self.first]
        return self._record_at(start)

    def _record_at(self, start: int) -> tuple[int, bytes]:
        length, leaf = _LEAF.unpack_from(self._data, start)
        data = self._data[start + 4 : start + 2 + length]
        return _in_former_layout(leaf, data) if leaf in _WIDER else (leaf, data)

    def definition(self, index: int) -> int:
        """The record that defines what ``index`` only declares; ``index`` itself where none does."""
        leaf, data = self.record(index)
        if leaf not in DEFINED or not flags(data) & FORWARD:
            return index
        return self._defined.get(identity(leaf, data), index)

    def defines(self, name: str) -> int | None:
        """The record that defines the type ``name``."""
        return self._defined.get(name.encode())

    @property
    def _defined(self) -> dict[bytes, int]:
        if self._definitions is None:
            self._definitions = dict(self._named())
        return self._definitions

    def _named(self) -> Iterator[tuple[bytes, int]]:
        for place, start in enumerate(self._starts):
            leaf, data = self._record_at(start)
            if leaf in DEFINED and not flags(data) & FORWARD:
                yield identity(leaf, data), self.first + place


def _in_former_layout(leaf: int, data: bytes) -> tuple[int, bytes]:
    """A record as compilers before Visual Studio 2019 wrote it: theirs begins with the number of members.

    Since then 32 bits of flags do, and the number is one of any width behind the references.
    """
    place = 8 if _WIDER[leaf] == UNION else 16
    (words,) = struct.unpack_from("<I", data)
    count, rest = number(data, place)
    head = struct.pack("<HH", min(max(count, 0), 0xFFFF), words & 0xFFFF)
    return _WIDER[leaf], head + data[4:place] + data[rest:]


def flags(data: bytes) -> int:
    """The flags of a record or enumeration."""
    return int(struct.unpack_from("<H", data, 2)[0])


def identity(leaf: int, data: bytes) -> bytes:
    """The name of a record or enumeration, which its declarations share."""
    at = _BEFORE_SIZE.get(leaf, 16)
    return raw_text(data, at if leaf == ENUM else number(data, at)[1])


FUNCTIONS: Final = frozenset({0x110F, 0x1110, 0x1146, 0x1147})
VARIABLES: Final = frozenset({0x110C, 0x110D, 0x1112, 0x1113})
BY_ID: Final = frozenset({0x1146, 0x1147})
ALIAS, TRAMPOLINE, COMPILER, OLDER_COMPILER = 0x1108, 0x112C, 0x113C, 0x1116
NO_RETURN: Final = 0x08
WITHOUT_STREAM: Final = 0xFFFF
ASSEMBLER: Final = 3

LANGUAGES: Final = {0: "C", 1: "C++", 2: "Fortran", 3: "assembly", 4: "Pascal", 5: "Basic", 11: "C#", 16: "D"} | {
    0x15: "Rust",
    0x53: "Swift",
}

_HEADER: Final = struct.Struct("<4xIIH2xH2xH2xiiii")
_MODULE: Final = struct.Struct("<34xHI24x")
_FUNCTION: Final = struct.Struct("<4xI16xIIHB")
_VARIABLE: Final = struct.Struct("<IIH")
_TRAMPOLINE: Final = struct.Struct("<4xIIHH")
_SYMBOL: Final = struct.Struct("<HH")
_RANGES: Final = {0xF12EBA2D: 28, 0xF13151E4: 32}
_RANGE: Final = struct.Struct("<HxxII4xH")

Place = tuple[int, int]
"""The number of a section, from 1, and an offset in it."""


class PdbSymbol(msgspec.Struct, frozen=True):
    """A function or variable: where it lies, its qualified name, and the number of its type."""

    place: Place
    name: str
    type: int
    is_function: bool
    by_id: bool = False
    noreturn: bool = False


class Found(msgspec.Struct):
    """What lies at the places that were asked for, and in which modules.

    ``thunks`` are places of jumps that linkers put before functions, with where they lead. ``without_types`` are places
    in modules of assemblers.
    """

    symbols: list[PdbSymbol] = []
    thunks: dict[Place, Place] = {}
    without_types: set[Place] = set()
    compilers: set[str] = set()
    languages: set[str] = set()


class DebugModules:
    """The modules (object files) of a PDB file, of which those are read that hold what is asked for."""

    def __init__(self, container: PdbContainer) -> None:
        self._container = container
        stream = container.stream(3)
        header = _HEADER.unpack_from(stream)
        version, self.age, _, _, self._records, modules, ranges, _, _ = header
        if min(modules, ranges) < 0 or version < 19970000 or 64 + modules + ranges > len(stream):
            raise MalformedPdb("the PDB file is corrupt: its list of modules contradicts itself")
        self._modules = list(_modules(stream[64 : 64 + modules]))
        self._ranges = sorted(_contributions(stream[64 + modules : 64 + modules + ranges]))

    def find(self, places: Collection[Place]) -> Found:
        """What lies at ``places``, and behind the jumps there."""
        found = Found()
        self._read_linker(found)
        wanted = {*places, *(found.thunks[each] for each in places if each in found.thunks)}
        for number, within in sorted(self._holding(wanted).items()):
            self._read_module(number, within, found)
        found.symbols += self._variables(wanted)
        return found

    def aliases(self) -> Iterator[tuple[int, str]]:
        """The types that have a name by ``typedef``."""
        for kind, data in _symbols(self._container.stream(self._records), 0):
            if kind == ALIAS:
                yield struct.unpack_from("<I", data)[0], text(data, 4)[0]

    def _holding(self, places: Collection[Place]) -> dict[int, set[Place]]:
        starts = [each[:2] for each in self._ranges]
        holding: dict[int, set[Place]] = {}
        for place in places:
            at = bisect_right(starts, place) - 1
            if at >= 0:
                section, start, size, module = self._ranges[at]
                if section == place[0] and start <= place[1] < start + max(size, 1):
                    holding.setdefault(module, set()).add(place)
        return holding

    def _read_linker(self, found: Found) -> None:
        for number, (name, _, _) in enumerate(self._modules):
            if name == "* Linker *":
                for kind, data in self._of(number):
                    if kind == TRAMPOLINE and len(data) >= _TRAMPOLINE.size:
                        start, target, section, behind = _TRAMPOLINE.unpack_from(data)
                        found.thunks[section, start] = behind, target

    def _of(self, number: int) -> Iterator[tuple[int, bytes]]:
        if number >= len(self._modules) or self._modules[number][1] == WITHOUT_STREAM:
            return iter(())
        _, stream, size = self._modules[number]
        return _symbols(self._container.stream(stream)[:size], 4)

    def _read_module(self, number: int, places: set[Place], found: Found) -> None:
        language = -1
        for kind, data in self._of(number):
            if kind in (COMPILER, OLDER_COMPILER):
                language = data[0]
                found.compilers.add(text(data, 22 if kind == COMPILER else 18)[0])
                found.languages.add(LANGUAGES.get(language, f"language {language:#x}"))
            elif kind in FUNCTIONS:
                _, type, offset, section, flags = _FUNCTION.unpack_from(data)
                if (section, offset) in places:
                    name = text(data, _FUNCTION.size)[0]
                    symbol = PdbSymbol((section, offset), name, type, True, kind in BY_ID, bool(flags & NO_RETURN))
                    found.symbols.append(symbol)
            elif kind in VARIABLES:
                found.symbols += _variable(data, places)
        if language == ASSEMBLER:
            found.without_types |= places

    def _variables(self, places: Collection[Place]) -> Iterator[PdbSymbol]:
        for kind, data in _symbols(self._container.stream(self._records), 0):
            if kind in VARIABLES:
                yield from _variable(data, places)


def _variable(data: bytes, places: Collection[Place]) -> Iterator[PdbSymbol]:
    type, offset, section = _VARIABLE.unpack_from(data)
    if (section, offset) in places:
        yield PdbSymbol((section, offset), text(data, _VARIABLE.size)[0], type, False)


def _symbols(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The records of a symbol stream. What is within a function is passed over."""
    unpack = _SYMBOL.unpack_from
    end = len(stream)
    while at + 4 <= end:
        length, kind = unpack(stream, at)
        after = at + 2 + max(length, 2)
        yield kind, stream[at + 4 : after]
        if kind in FUNCTIONS and at + 12 <= end:
            (behind,) = struct.unpack_from("<I", stream, at + 8)
            after = behind if after < behind < end else after
        at = after


def _modules(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The name of each module, the number of its stream, and how much of that are symbols."""
    at = 0
    while at + 64 < len(data):
        stream, size = _MODULE.unpack_from(data, at)
        name, at = text(data, at + 64)
        _, at = text(data, at)
        yield name, stream, size
        at = (at + 3) & ~3


def _contributions(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    if len(data) < 4:
        return
    width = _RANGES.get(struct.unpack_from("<I", data)[0])
    if width is None:
        raise MalformedPdb("the PDB file is corrupt: its table of sections has an unknown form")
    for at in range(4, len(data) - width + 1, width):
        yield _RANGE.unpack_from(data, at)


def symbols_at(found: Found, place: Place) -> Sequence[PdbSymbol]:
    """What lies at ``place``, or behind the jump there."""
    target = found.thunks.get(place, place)
    return [each for each in found.symbols if each.place == target]
