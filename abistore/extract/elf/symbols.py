"""The dynamic symbol table: what a library exports, and what it imports."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.elf.container import PT_LOAD, ElfFile, texts_at
from abistore.extract.elf.dynamic import DT_FINI, DT_GNU_HASH, DT_HASH, DT_INIT, DT_SYMTAB, DT_VERSYM, DynamicSection
from abistore.extract.elf.hardening import MemoryProtection
from abistore.extract.elf.machines import EM_ARM, EM_PPC64
from abistore.extract.elf.noise import is_noise
from abistore.extract.elf.versions import SymbolVersions
from abistore.extract.exports import Exports
from abistore.model.mangling.symbols import CLASS_DATA
from abistore.model.names import Name
from abistore.model.symbol_versions import bound, declared_as
from abistore.model.tables import ElfSymbol, Import, Symbol
from abistore.model.words.elf_symbols import Binding, SymbolType, Visibility, elf_symbol

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
    raise ExtractError(f"{elf.path}: neither a section table nor a hash table tells the number of symbols")


def _count_by_gnu_hash(elf: ElfFile, address: int) -> int:
    """The highest chained symbol plus one: the last symbol of the last chain, whose lowest bit ends it."""
    table = elf.at_address(address)
    if len(table) < 16:
        raise ExtractError(f"{elf.path}: the symbol hash table is cut off")
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
    entries = {dynamic.elf.entry, dynamic.get(DT_INIT), dynamic.get(DT_FINI)}
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
    """The exports that have several versions, and these."""
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
