"""The dynamic symbol table, and what the dynamic linker finds in it or refuses.

Refusals are checks of glibc before it maps anything (``elf/dl-load.c``, ``elf/get-dynamic-info.h``,
``elf/dl-version.c``); other dynamic linkers have some of them. Tables that are not in memory, or not writable, are not
checked at all: the program that loads the file crashes, or runs without some relocations.
"""

from __future__ import annotations

import array
import struct
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.elf.container import (
    DF_1_PIE,
    DT_GNU_HASH,
    DT_HASH,
    DT_SYMTAB,
    DT_VERDEF,
    DT_VERDEFNUM,
    DT_VERNEED,
    DT_VERNEEDNUM,
    DT_VERSYM,
    PAGE,
    PT_DYNAMIC,
    PT_LOAD,
    SHT_NOBITS,
    DynamicSection,
    ElfFile,
    ElfSegment,
    is_noise,
    texts_at,
)
from abistore.extract.elf.container import DT_FINI as DynamicDT_FINI
from abistore.extract.elf.container import DT_INIT as DynamicDT_INIT
from abistore.extract.elf.container import PT_TLS as ContainerPT_TLS
from abistore.extract.elf.machines import EM_ARM, EM_MIPS, EM_PPC64, MemoryProtection, SymbolVersions, unfound
from abistore.extract.files import Exports
from abistore.model.declarations import Name
from abistore.model.names.symbols import CLASS_DATA
from abistore.model.shapes import Binding, ElfSymbol, Import, Symbol, SymbolType, Visibility, elf_symbol
from abistore.model.snapshot import NOT_FOUND_BY_LINKER, Evidence, bound, declared_as
from abistore.model.words import counted

PT_GNU_RELRO: Final = 0x6474E552
MAPPED_PF_W: Final = 2
SHF_ALLOC, SHF_TLS = 0x2, 0x400
NONE: Final = 0
"""The relocation of every machine that changes nothing, wherever it is."""

DT_RELA, DT_RELASZ, DT_REL, DT_RELSZ, DT_PLTREL, DT_JMPREL, DT_PLTRELSZ = 7, 8, 17, 18, 20, 23, 2
DT_RELR, DT_RELRSZ = 36, 35
DT_INIT, DT_FINI, DT_PLTGOT = 12, 13, 3
DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ = 25, 27, 26, 28

TABLES: Final = (
    ("DT_RELA", DT_RELA, DT_RELASZ, 3),
    ("DT_REL", DT_REL, DT_RELSZ, 2),
    ("DT_RELR", DT_RELR, DT_RELRSZ, 1),
    ("DT_INIT_ARRAY", DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 1),
    ("DT_FINI_ARRAY", DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 1),
)
"""The tables by the entries that say where they are and how large, and the words in a row."""

ADDRESSES: Final = (("DT_INIT", DT_INIT), ("DT_FINI", DT_FINI), ("DT_PLTGOT", DT_PLTGOT))


class _MappedMemory:
    """The loaded segments by address, of which no two overlap, and the runs of pages that they make."""

    def __init__(self, segments: Sequence[ElfSegment]) -> None:
        loaded = (each for each in segments if each.type == PT_LOAD and each.memory_size)
        self._loaded = sorted(loaded, key=lambda each: each.address)
        self._starts = [each.address for each in self._loaded]
        self._runs: list[tuple[int, int]] = []
        for each in self._loaded:
            start, end = each.address // PAGE * PAGE, -(-(each.address + each.memory_size) // PAGE) * PAGE
            if self._runs and start <= self._runs[-1][1]:
                start, last = self._runs.pop()
                end = max(end, last)
            self._runs.append((start, end))

    def has(self, address: int, size: int) -> bool:
        """Whether pages side by side have these bytes."""
        at = bisect_right(self._runs, (address, sys.maxsize << 1)) - 1
        return at >= 0 and address + size <= self._runs[at][1]

    def has_of_file(self, address: int, size: int, offset: int | None = None) -> bool:
        """Whether one segment has these bytes from the file, and from this place of it."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return False
        segment = self._loaded[at]
        right_place = offset is None or segment.address - segment.offset == address - offset
        return right_place and address + size <= segment.address + segment.file_size


def unmapped(dynamic: DynamicSection) -> Iterator[str]:
    """What lies in no loaded segment, or where nothing can be written that relocations change."""
    elf = dynamic.elf
    memory = _MappedMemory(elf.segments)
    yield from _segments(elf, memory)
    yield from _sections(elf, memory)
    for name, tag in ADDRESSES:
        address = dynamic.get(tag)
        if address and not memory.has(address, 1):
            yield f"{name} lies in no loaded segment"
    calls = 3 if dynamic.get(DT_PLTREL) == DT_RELA else 2
    for name, tag, length, columns in (*TABLES, ("DT_JMPREL", DT_JMPREL, DT_PLTRELSZ, calls)):
        address, size = dynamic.get(tag), dynamic.get(length)
        if address is None and size is None:
            continue
        if address is None or size is None or size % (columns * elf.bits // 8):
            yield f"{name} and its size are not those of a table"
        elif size and not memory.has_of_file(address, size):
            yield f"{name} lies in no loaded segment"
        elif size and columns > 1:
            yield from _places(dynamic, name, elf.at_address(address, size), columns)


def _segments(elf: ElfFile, memory: _MappedMemory) -> Iterator[str]:
    for each in elf.segments:
        if each.type == PT_DYNAMIC and not memory.has_of_file(each.address, each.file_size, each.offset):
            yield "PT_DYNAMIC lies in no loaded segment"
        if (
            each.type == ContainerPT_TLS
            and each.file_size
            and not memory.has_of_file(each.address, each.file_size, each.offset)
        ):
            yield "PT_TLS lies in no loaded segment"
        if each.type == ContainerPT_TLS and each.file_size > each.memory_size:
            yield "PT_TLS is larger in the file than in memory"
        if each.type == PT_GNU_RELRO:
            start, end = (place // PAGE * PAGE for place in (each.address, each.address + each.memory_size))
            if end > start and not memory.has(start, end - start):
                yield "PT_GNU_RELRO lies in no loaded segment"


def _sections(elf: ElfFile, memory: _MappedMemory) -> Iterator[str]:
    """Sections that belong into memory and that no segment brings there."""
    for each in elf.sections:
        if not each.flags & SHF_ALLOC or not each.size or not each.address:
            continue
        if each.type == SHT_NOBITS:
            held = each.flags & SHF_TLS or memory.has(each.address, each.size)
        else:
            held = memory.has_of_file(each.address, each.size, each.offset)
        if not held:
            yield f"section {each.name} lies in no loaded segment"


def _places(dynamic: DynamicSection, name: str, data: bytes, columns: int) -> Iterator[str]:
    """Relocations of what is not in memory, or cannot be written."""
    elf = dynamic.elf
    words = array.array("Q" if elf.bits == 64 else "I", data)
    if elf.little != (sys.byteorder == "little"):
        words.byteswap()
    places, asked = words[0::columns], words[1::columns]
    writable = [
        range(each.address, each.address + each.memory_size)
        for each in elf.segments
        if each.type == PT_LOAD and (each.flags & MAPPED_PF_W or dynamic.text_relocations)
    ]
    if elf.machine == EM_MIPS or _count_within(places, writable) == len(places):
        return
    kinds = 0xFFFFFFFF if elf.bits == 64 else 0xFF
    acting = [place for place, info in zip(places, asked, strict=True) if info & kinds != NONE]
    if _count_within(acting, writable) != len(acting):
        yield f"{name} changes memory that does not exist or is not writable"


def _count_within(places: Collection[int], ranges: Sequence[range]) -> int:
    ordered = sorted(places)
    return sum(bisect_right(ordered, each.stop - 1) - bisect_left(ordered, each.start) for each in ranges)


CURRENT: Final = 1
"""EV_CURRENT, and the only version of the records of symbol versions."""

MOST_RECORDS: Final = 0x7FFF
"""An index of a version has 15 bits."""

SYSV, GNU = 0, 3
MOST_ABI: Final = {SYSV: 0, GNU: 3}
"""The highest EI_ABIVERSION for each OS ABI of Linux."""

LOADING_DT_PLTREL, LOADING_DT_RELA, LOADING_DT_REL = 20, 7, 17
DT_RELAENT, DT_RELENT = 9, 19
EM_386: Final = 3
ENTRY_BYTES: Final = {(DT_RELAENT, 64): 24, (DT_RELAENT, 32): 12, (DT_RELENT, 64): 16, (DT_RELENT, 32): 8}


def refusals(dynamic: DynamicSection) -> Iterator[str]:
    """What the dynamic linker would say of a file that it does not load, field by field."""
    yield from _header(dynamic.elf)
    yield from _segments_loading(dynamic.elf)
    if dynamic.flags_1 & DF_1_PIE:
        yield "DF_1_PIE: it is a position-independent executable"
    yield from _relocations(dynamic)
    yield from _versions(dynamic)
    yield from unmapped(dynamic)


def _versions(dynamic: DynamicSection) -> Iterator[str]:
    if DT_VERSYM not in dynamic.values and (DT_VERDEF in dynamic.values or DT_VERNEED in dynamic.values):
        yield "DT_VERSYM is missing, although there is a table of versions"
    for tag, count, name, step in ((DT_VERDEF, DT_VERDEFNUM, "Verdef", 16), (DT_VERNEED, DT_VERNEEDNUM, "Verneed", 12)):
        address, number = dynamic.get(tag), dynamic.get(count)
        if address is not None and number:
            others = {each for each in _record_versions(dynamic, address, number, step) if each != CURRENT}
            yield from (f"{name} of version {each}" for each in others)


def _record_versions(dynamic: DynamicSection, address: int, number: int, step: int) -> Iterator[int]:
    """The version of each record; ``step`` is where a record says how far the next one is."""
    record = struct.Struct(f"{dynamic.elf.order}H{step - 2}xI")
    for _ in range(min(number, MOST_RECORDS)):
        version, further = record.unpack(dynamic.elf.at_address(address, record.size))
        yield version
        if not further:
            return
        address += further


def _header(elf: ElfFile) -> Iterator[str]:
    identification = elf.read_at(0, 16)
    if identification[6] != CURRENT:
        yield f"EI_VERSION {identification[6]}"
    most = MOST_ABI.get(identification[7])
    if most is not None and identification[8] > most and elf.machine not in (EM_MIPS, EM_ARM):
        yield f"EI_ABIVERSION {identification[8]}"
    if any(identification[9:]):
        yield "EI_PAD is not zero"
    if elf.version != CURRENT:
        yield f"e_version {elf.version}"


def _segments_loading(elf: ElfFile) -> Iterator[str]:
    loaded = [each for each in elf.segments if each.type == PT_LOAD]
    for each in loaded:
        if (each.address - each.offset) & (max(each.alignment, PAGE) - 1):
            yield f"PT_LOAD at {each.address:#x} is not aligned in the file as in memory"
    if any(before.address > after.address for before, after in pairwise(loaded)):
        yield "PT_LOAD segments are not in the order of their addresses"


def _relocations(dynamic: DynamicSection) -> Iterator[str]:
    for tag, name in ((DT_RELAENT, "DT_RELAENT"), (DT_RELENT, "DT_RELENT")):
        size = dynamic.get(tag)
        if size is not None and size != ENTRY_BYTES[tag, dynamic.elf.bits]:
            yield f"{name} {size}"
    kind = dynamic.get(LOADING_DT_PLTREL)
    allowed = {
        EM_386: (LOADING_DT_REL,),
        EM_ARM: (LOADING_DT_REL, LOADING_DT_RELA),
        EM_MIPS: (LOADING_DT_REL, LOADING_DT_RELA),
    }
    if kind is not None and kind not in allowed.get(dynamic.elf.machine, (LOADING_DT_RELA,)):
        yield f"DT_PLTREL {kind}"


SHT_SYMTAB, SHT_DYNSYM = 2, 11
SHN_UNDEF, SHN_ABS = 0, 0xFFF1
PF_X, PF_W, PF_R, PT_TLS = 1, 2, 4, 7

NOTYPE, OBJECT, FUNCTION, TLS, IFUNC, ARM_THUMB = 0, 1, 2, 6, 10, 13
MOST_TYPES = 16

Kind = Literal["function", "variable"]
FoundExport: TypeAlias = "tuple[DynamicSymbol, Name, Symbol]"

_TYPES: dict[int, SymbolType] = {OBJECT: "object", FUNCTION: "function", 5: "common", TLS: "tls", IFUNC: "ifunc"}
"""The types that linkers bind to, beside none: not those of sections and files."""

_BINDINGS: dict[int, Binding] = {1: "global", 2: "weak", 10: "unique"}
_VISIBILITIES: dict[int, Visibility] = {0: "default", 3: "protected"}


class DynamicSymbol(msgspec.Struct, frozen=True):
    """One row of the dynamic symbol table, decoded. ``version`` is the raw .gnu.version value (1: unversioned)."""

    name: str
    value: int
    size: int
    type: int
    binding: int
    visibility: int
    section: int
    version: int
    index: int


def read_rows(dynamic: DynamicSection) -> Iterator[DynamicSymbol]:
    """The rows of the dynamic symbol table, without the null row. Raises :class:`ExtractError`."""
    elf = dynamic.elf
    address = dynamic.get(DT_SYMTAB)
    if address is None:
        return
    layout = struct.Struct(elf.order + ("IIIBBH" if elf.bits == 32 else "IBBHQQ"))
    count = _count(dynamic, address, layout.size)
    table = elf.at_address(address, count * layout.size)
    versions = _version_indices(dynamic, count)
    rows = list(layout.iter_unpack(table))
    names = texts_at(dynamic.strings, [row[0] for row in rows], elf.path)
    for index, (text, row) in enumerate(zip(names, rows, strict=True)):
        if elf.bits == 64:
            _, info, other, section, value, size = row
        else:
            _, value, size, info, other, section = row
        if index and text:
            yield DynamicSymbol(text, value, size, info & 15, info >> 4, other & 3, section, versions[index], index)


def symbol_places(elf: ElfFile) -> dict[str, set[int]]:
    """The addresses of global symbols in ``.symtab``, which is left out of a stripped file, by name without version."""
    section = next((each for each in elf.sections if each.type == SHT_SYMTAB), None)
    if section is None or section.link >= len(elf.sections):
        return {}
    layout = struct.Struct(elf.order + ("IIIBBH" if elf.bits == 32 else "IBBHQQ"))
    table = elf.contents(section)
    rows = layout.iter_unpack(table[: len(table) // layout.size * layout.size])
    fields = (0, 3, 5, 1) if elf.bits == 32 else (0, 1, 3, 4)
    found = [tuple(row[each] for each in fields) for row in rows]
    wanted = [(name, value) for name, info, shndx, value in found if info >> 4 and shndx != SHN_UNDEF]
    names = texts_at(elf.contents(elf.sections[section.link]), [name for name, _ in wanted], elf.path)
    places: dict[str, set[int]] = {}
    for text, (_, value) in zip(names, wanted, strict=True):
        places.setdefault(text.partition("@")[0], set()).add(value)
    return places


def _version_indices(dynamic: DynamicSection, count: int) -> tuple[int, ...]:
    address = dynamic.get(DT_VERSYM)
    if address is None:
        return (1,) * count
    return struct.unpack(f"{dynamic.elf.order}{count}H", dynamic.elf.at_address(address, count * 2))


def _count(dynamic: DynamicSection, address: int, entry_size: int) -> int:
    """How many symbols there are: the section table says, else the hash tables tell, as for the loader."""
    elf = dynamic.elf
    for section in elf.sections:
        if section.type == SHT_DYNSYM and section.address == address:
            return section.size // entry_size
    if (hash_address := dynamic.get(DT_HASH)) is not None:
        # 64-bit s390 and Alpha have 8-byte words in this one table.
        word = "Q" if elf.bits == 64 and elf.machine in (22, 0x9026) else "I"
        layout = struct.Struct(f"{elf.order}2{word}")
        return int(layout.unpack(elf.at_address(hash_address, layout.size))[1])
    if (hash_address := dynamic.get(DT_GNU_HASH)) is not None:
        return _count_by_gnu_hash(elf, hash_address)
    raise ExtractError(f"{elf.path}: neither a section table nor a hash table shows the number of symbols")


def _count_by_gnu_hash(elf: ElfFile, address: int) -> int:
    """The highest chained symbol plus one: the last symbol of the last chain, whose lowest bit ends it."""
    table = elf.at_address(address)
    if len(table) < 16:
        raise ExtractError(f"{elf.path}: the symbol hash table is truncated")
    buckets, first, bloom, _shift = struct.unpack_from(elf.order + "4I", table)
    start = 16 + bloom * (elf.bits // 8)
    chains = start + 4 * buckets
    if chains > len(table):
        raise ExtractError(f"{elf.path}: the symbol hash table is corrupt")
    last: int = max(struct.unpack_from(f"{elf.order}{buckets}I", table, start), default=0)
    if last < first:
        return int(first)
    word = struct.Struct(elf.order + "I")
    for position in range(chains + 4 * (last - first), len(table) - 3, 4):
        if word.unpack_from(table, position)[0] & 1:
            return last + 1
        last += 1
    raise ExtractError(f"{elf.path}: the symbol hash table does not end")


# --- exports ------------------------------------------------------------------------------------------------------


def exported(dynamic: DynamicSection, rows: list[DynamicSymbol], versions: SymbolVersions) -> Iterator[FoundExport]:
    """The rows that other files can bind to, each with its name and shape.

    Left out are local and hidden symbols, the absolute symbols that stand for a version definition, data that an
    executable copied from another library (its version is a required one), what the dynamic linker passes over
    (:func:`_is_passed_over`), and :func:`is_noise`.
    """
    version_names = frozenset(versions.defined.values())
    executable = _executable_places(dynamic.elf)
    protections = MemoryProtection(dynamic.elf)
    types = _TYPES | {ARM_THUMB: "function"} if dynamic.elf.machine == EM_ARM else _TYPES
    entries = {dynamic.elf.entry, dynamic.get(DynamicDT_INIT), dynamic.get(DynamicDT_FINI)}
    known: dict[tuple[object, ...], Symbol] = {}
    memory = _Memory(dynamic.elf)
    for row in rows:
        binding, visibility = _BINDINGS.get(row.binding), _VISIBILITIES.get(row.visibility)
        if row.section == SHN_UNDEF or binding is None or visibility is None:
            continue
        if _is_passed_over(row, types) or (row.value not in memory.largest[row.type] and not memory.holds(row)):
            continue
        if row.section == SHN_ABS and row.name in version_names:
            continue
        if (row.version & 0x7FFF) in versions.required or is_noise(
            row.name, typed=row.type != NOTYPE or row.size > 0, entry=row.value in entries
        ):
            continue
        sort = types.get(row.type, "notype")
        kind = _kind(row, sort, executable)
        size = row.size if kind == "variable" else 0
        own = sort == "object" and not row.name.startswith(CLASS_DATA)
        stored = own and size
        read_only = protections.is_read_only(row.value, size) if stored else None
        marks = own and not size, sort in ("object", "function") and row.section == SHN_ABS
        key = sort, binding, visibility, size, row.version, read_only, marks
        symbol = known.get(key)
        if symbol is None:
            version = versions.defined.get(row.version & 0x7FFF)
            default = not row.version & 0x8000
            symbol = replace(elf_symbol(sort, binding, visibility), size=size, version=version, default=default)
            symbol = known[key] = _marked(_stored(symbol, read_only), *marks)
        yield row, Name(kind, row.name), symbol


def _is_passed_over(row: DynamicSymbol, types: Container[int]) -> bool:
    """Whether the dynamic linker looks on in the next library: no place in memory, or a type that does not bind.

    Compilers of Rust keep what they tell each other in a section that is not loaded, under an exported name.
    """
    nowhere = not row.value and row.section != SHN_ABS and row.type != TLS
    return nowhere or (row.type != NOTYPE and row.type not in types)


def _stored(symbol: Symbol, read_only: bool | None) -> Symbol:
    """``symbol`` with what memory it lies in."""
    return symbol if read_only is None else replace(symbol, elf=replace(symbol.elf or ElfSymbol(), read_only=read_only))


def _marked(symbol: Symbol, empty: bool, absolute: bool) -> Symbol:
    """``symbol`` with what is odd about its size or its address."""
    if not (empty or absolute):
        return symbol
    return replace(symbol, elf=replace(symbol.elf or ElfSymbol(), empty=empty, absolute=absolute))


class _Memory:
    """What the loader maps: a program that goes to a symbol elsewhere, or calls what is no code, does not go on.

    ``largest`` has the range in which nearly all symbols of a type are: what is in it needs no further question.
    """

    def __init__(self, elf: ElfFile) -> None:
        loaded = [each for each in elf.segments if each.type == PT_LOAD]
        code = PF_R if elf.machine == EM_PPC64 else PF_X  # whose functions may be descriptors, which are data
        self._code, self._data = (
            [range(each.address, each.address + each.memory_size) for each in loaded if each.flags & flag]
            for flag in (code, PF_R | PF_W)
        )
        of_type = {OBJECT: self._data, **dict.fromkeys((FUNCTION, IFUNC, ARM_THUMB), self._code)}
        self.largest = [max(of_type.get(each, ()), key=_length, default=range(0)) for each in range(MOST_TYPES)]
        self._first = min((each.address for each in loaded), default=0)
        self._last = max((each.address + each.memory_size for each in loaded), default=0)
        self._of_thread = next((each.memory_size for each in elf.segments if each.type == PT_TLS), -1)

    def holds(self, row: DynamicSymbol) -> bool:
        """Whether there is memory of the kind that a symbol is of. A label may be the end of it."""
        if row.section == SHN_ABS:
            return True
        if row.type == TLS:
            return row.value <= self._of_thread
        if row.type in (FUNCTION, IFUNC, ARM_THUMB):
            return any(row.value in each for each in self._code)
        if row.type == OBJECT and row.size:
            return any(row.value in each for each in self._data)
        return self._first <= row.value <= self._last


def _length(place: range) -> int:
    """The bytes of a range, which may be more than ``len`` can say."""
    return place.stop - place.start


def _executable_places(elf: ElfFile) -> tuple[tuple[int, int], ...]:
    """Address ranges of code: executable sections, or executable segments where there is no section table."""
    if elf.sections:
        return tuple((s.address, s.address + s.size) for s in elf.sections if s.flags & 4 and s.address)
    return tuple((s.address, s.address + s.memory_size) for s in elf.segments if s.type == PT_LOAD and s.flags & PF_X)


def _kind(row: DynamicSymbol, sort: SymbolType, executable: tuple[tuple[int, int], ...]) -> Kind:
    if sort in ("function", "ifunc"):
        return "function"
    if sort == "notype" and row.section != SHN_ABS and any(low <= row.value < high for low, high in executable):
        return "function"
    return "variable"


def told_apart(found: Sequence[FoundExport]) -> Sequence[FoundExport]:
    """``found``, where versions beside the one that new links get say whether they have a place of their own."""
    several = _of_several_versions(found)
    if not several:
        return found
    defaults = {name: bound(symbols) for name, symbols in several.items()}
    places = {name: row.value for row, name, symbol in found if symbol is defaults.get(name)}
    return [
        each if each[1] not in several or each[2] is defaults[each[1]] else (*each[:2], _apart(each, places[each[1]]))
        for each in found
    ]


def _of_several_versions(found: Sequence[FoundExport]) -> dict[Name, list[Symbol]]:
    counts = Counter([name for _, name, _ in found])
    if len(counts) == len(found):
        return {}
    several: dict[Name, list[Symbol]] = {}
    for _, name, symbol in found:
        if counts[name] > 1:
            several.setdefault(name, []).append(symbol)
    return several


def _apart(export: FoundExport, default: int) -> Symbol:
    row, _, symbol = export
    return replace(symbol, elf=replace(symbol.elf or ElfSymbol(), own_place=row.value != default))


def index_exports(dynamic: DynamicSection, found: Sequence[FoundExport]) -> Exports:
    """The address index of what :func:`exported` gave."""
    thumb = dynamic.elf.machine == EM_ARM
    descriptors = FunctionDescriptors(dynamic.elf)
    several = _of_several_versions(found)
    addresses: dict[int, set[str]] = {}
    offsets: dict[int, set[str]] = {}
    exports = Exports()
    for row, name, symbol in found:
        spelling = declared_as(name, several[name], symbol).spelling if name in several else row.name
        exports.kinds[spelling] = "function" if name.kind == "function" else "variable"
        if spelling != row.name:
            exports.versions[spelling] = row.name
        if row.type == TLS:
            offsets.setdefault(row.value, set()).add(spelling)
        elif row.type != IFUNC and row.section != SHN_ABS:
            code = name.kind == "function"
            place = descriptors.code_of(row.value) if code else row.value
            addresses.setdefault(place & ~1 if code and thumb else place, set()).add(spelling)
    exports.by_address = {at: tuple(names if len(names) == 1 else sorted(names)) for at, names in addresses.items()}
    exports.tls_by_offset = {offset: tuple(sorted(names)) for offset, names in offsets.items()}
    return exports


# --- imports ------------------------------------------------------------------------------------------------------


def imported(rows: list[DynamicSymbol], versions: SymbolVersions) -> Iterator[tuple[Name, Import]]:
    """The undefined symbols, each with the version and the library that it is bound to."""
    for row in rows:
        if row.section == SHN_UNDEF and row.binding in _BINDINGS:
            required = versions.required.get(row.version & 0x7FFF)
            yield (
                Name("import", row.name),
                Import(
                    weak=row.binding == 2,
                    version=required.version if required else None,
                    library=required.library if required else None,
                ),
            )


def copied_imports(
    rows: list[DynamicSymbol], versions: SymbolVersions, copied: Container[int]
) -> Iterator[tuple[Name, Import]]:
    """The data of libraries of which a program has a copy: the linker defines it there, and the loader fills it."""
    for row in rows:
        required = versions.required.get(row.version & 0x7FFF)
        if row.section != SHN_UNDEF and (required or row.index in copied):
            yield (
                Name("import", row.name),
                Import(
                    version=required.version if required else None,
                    library=required.library if required else None,
                ),
            )


DESCRIPTOR_BYTES: Final = 8


class FunctionDescriptors:
    """The descriptors of ``.opd``, each of which begins with the address of a function's code.

    A symbol names one of them, not the code (64-bit PowerPC ELF ABI 1.9, 3.2.1). Linkers write that address beside the
    relocation for it, so that relocations need not be read.
    """

    def __init__(self, elf: ElfFile) -> None:
        found = [each for each in elf.sections if each.name == ".opd"] if elf.machine == EM_PPC64 else []
        self._data = elf.section(".opd") if found else b""
        self._start = found[0].address if found else 0
        self._entry = struct.Struct(elf.order + "Q").unpack_from

    def code_of(self, address: int) -> int:
        """Where the code of the function at ``address`` is: there, unless a descriptor is."""
        position = address - self._start
        if not 0 <= position <= len(self._data) - DESCRIPTOR_BYTES:
            return address
        return self._entry(self._data, position)[0] or address


MOST_NAMED: Final = 3


class Lookup(msgspec.Struct, frozen=True):
    """The exports that the dynamic linker finds, and the names of those that it does not, or by one table only."""

    found: Sequence[FoundExport]
    lost: tuple[str, ...] = ()
    in_one_table: tuple[str, ...] = ()

    def evidence(self, evidence: Evidence) -> Evidence:
        """What is seen of the symbols, with what the linker does not find."""
        if not self.lost and not self.in_one_table:
            return evidence
        names = self.lost or self.in_one_table
        first = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else "")
        does = "is" if len(names) == 1 else "are"
        where = "not found by the dynamic linker" if self.lost else "found by one of two hash tables only"
        return msgspec.structs.replace(
            evidence,
            state="partial",
            reason=NOT_FOUND_BY_LINKER,
            detail=f"{counted(len(names), 'symbol')} of the symbol table {does} {where}: {first}",
            hint="relink the library: a tool changed it and left its tables inconsistent",
            described=evidence.expected - len(self.in_one_table),
            expected=evidence.expected + len(self.lost),
        )


def looked_up(dynamic: DynamicSection, found: Sequence[FoundExport], versions: SymbolVersions) -> Lookup:
    """Look every export of the symbol table up, as the dynamic linker would for a program.

    A version that was defined under another name's hash is found by no program that was linked to it, and neither is
    one that no table has.
    """
    by_hash = unfound(dynamic, _names(dynamic, [row for row, _, _ in found]))
    lost = {row.index for row, _, _ in found if versions.is_damaged(row.version & 0x7FFF)} | by_hash.nowhere
    if not lost and not by_hash.in_one_table:
        return Lookup(found)
    return Lookup(
        [each for each in found if each[0].index not in lost],
        _spelled(found, lost),
        _spelled(found, by_hash.in_one_table - lost),
    )


def _names(dynamic: DynamicSection, rows: Iterable[DynamicSymbol]) -> dict[int, bytes]:
    """The names as the file has them, by index: what is not UTF-8 is spelled with a backslash."""
    return {row.index: _raw(dynamic, row.index) if "\\" in row.name else row.name.encode() for row in rows}


def _raw(dynamic: DynamicSection, index: int) -> bytes:
    elf, table = dynamic.elf, dynamic.get(DT_SYMTAB) or 0
    (offset,) = struct.unpack(f"{elf.order}I", elf.at_address(table + index * (16 if elf.bits == 32 else 24), 4))
    return dynamic.strings[offset : dynamic.strings.find(b"\0", offset)]


def _spelled(found: Iterable[FoundExport], indices: Iterable[int]) -> tuple[str, ...]:
    chosen = frozenset(indices)
    return tuple(sorted({row.name for row, _, _ in found if row.index in chosen}))
