"""What a Mach-O file exports and imports, by its symbol table, the exports trie and dyld's opcodes."""

from __future__ import annotations

import re
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from abistore.extract.files import Exports
from abistore.extract.macho.container import (
    LC_DYLD_EXPORTS_TRIE,
    LC_DYLD_INFO,
    LC_DYLD_INFO_ONLY,
    LC_SYMTAB,
    MH_TWOLEVEL,
    N_ABS,
    N_ARM_THUMB_DEF,
    N_EXT,
    N_INDR,
    N_OSO,
    N_PEXT,
    N_SECT,
    N_STAB,
    N_TYPE,
    N_UNDF,
    N_WEAK_DEF,
    N_WEAK_REF,
    S_ATTR_PURE_INSTRUCTIONS,
    S_ATTR_SOME_INSTRUCTIONS,
    S_THREAD_LOCAL_VARIABLES,
    SELF_ORDINAL,
    SG_READ_ONLY,
    VM_PROT_WRITE,
    Dylib,
    MachOFile,
    MachoSection,
    provider,
)
from abistore.model.declarations import Name
from abistore.model.names.symbols import CLASS_DATA, VTT
from abistore.model.shapes import Import, MachoSymbol, Symbol

LONGEST = 10
"""The most bytes of a 64-bit number."""


class Malformed(Exception):
    """A table of dyld contradicts itself. The reader names the file, and makes an error of it that users meet."""


def unsigned(data: bytes, place: int) -> tuple[int, int]:
    """The unsigned LEB128 number at ``place``, and where the next one begins."""
    value = shift = 0
    for position in range(place, min(place + LONGEST, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
        shift += 7
    raise Malformed("a number is cut off")


def signed(data: bytes, place: int) -> tuple[int, int]:
    """The signed LEB128 number at ``place``, and where the next one begins."""
    value, after = unsigned(data, place)
    bits = 7 * (after - place)
    return value - (1 << bits) if value >> (bits - 1) & 1 else value, after


def text(data: bytes, place: int) -> tuple[bytes, int]:
    """The zero-terminated text at ``place``, and where the next one begins."""
    end = data.find(b"\0", place)
    if end < 0:
        raise Malformed("a name is cut off")
    return data[place:end], end + 1


class NameBudget:
    """Bounds what names that overlap may become: together no more than some times the table that they lie in."""

    def __init__(self, size: int) -> None:
        self._left = 64 * size + (1 << 20)

    def spend(self, name: bytes) -> str:
        """The name as text. Bytes that are not UTF-8 are spelled ``\\xNN``."""
        self._left -= len(name)
        if self._left < 0:
            raise Malformed("the names overlap: together they would fill the memory")
        return name.decode("utf-8", "backslashreplace")


KIND, WEAK, REEXPORT = 0x3, 0x4, 0x8
THREAD_LOCAL, ABSOLUTE = 0x1, 0x2


class TrieExport(msgspec.Struct, frozen=True):
    """One name of the trie. ``address`` counts from the file's header.

    A name that is re-exported has the ``ordinal`` of the library that has it, and its name there where it differs.
    """

    name: str
    flags: int
    address: int = 0
    ordinal: int = 0
    other_name: str = ""


def read_trie(data: bytes) -> Iterator[TrieExport]:
    """The exports in a trie. Raises :class:`Malformed` where it is cut off, or has a circle."""
    budget = NameBudget(len(data))
    seen = {0}
    pending = [(0, b"")] if data else []
    while pending:
        place, prefix = pending.pop()
        size, place = unsigned(data, place)
        if size:
            yield _export(data, place, budget.spend(prefix))
            place += size
        if place >= len(data):
            raise Malformed("the exports trie is cut off")
        children, place = data[place], place + 1
        for _ in range(children):
            edge, place = text(data, place)
            child, place = unsigned(data, place)
            if child >= len(data) or child in seen:
                raise Malformed("the exports trie is not a tree")
            seen.add(child)
            pending.append((child, prefix + edge))


def _export(data: bytes, place: int, name: str) -> TrieExport:
    flags, place = unsigned(data, place)
    first, place = unsigned(data, place)
    if flags & REEXPORT:
        other, _ = text(data, place)
        return TrieExport(name, flags, ordinal=first, other_name=other.decode("utf-8", "backslashreplace"))
    return TrieExport(name, flags, first)


NOISE = frozenset({"_mh_dylib_header", "_mh_bundle_header", "_mh_execute_header", "_mh_dylinker_header"})
"""Names of the file's own header, which every linker defines."""

OWN = frozenset({*NOISE, "__dso_handle"})

DIRECTIVE = re.compile(r"\$ld\$\w+\$")
"""Names that tell the linker under which conditions a symbol is there: no program can bind to them."""


class SymbolRow(msgspec.Struct, frozen=True):
    """One row of the symbol table (``nlist``); ``section`` counts from 1."""

    name: str
    type: int
    section: int
    description: int
    value: int


def read_rows(macho: MachOFile) -> list[SymbolRow]:
    """The rows of the symbol table, without what debuggers read, but for the names of object files.

    Local symbols mark places only, and have no name here. Raises :class:`Malformed`.
    """
    command = macho.first(LC_SYMTAB)
    if command is None:
        return []
    offset, count, names_offset, names_size = macho.unpacked(command, "4I")
    layout = struct.Struct(macho.order + ("IBBHQ" if macho.bits == 64 else "IBBHI"))
    table = macho.read_at(offset, count * layout.size)
    names = macho.read_at(names_offset, names_size)
    budget = NameBudget(len(names))
    rows = []
    for place, kind, section, description, value in layout.iter_unpack(table):
        if kind & N_STAB and kind != N_OSO:
            continue
        if place >= len(names) > 0:
            raise Malformed("the name of a symbol lies outside of the table of names")
        named = kind & N_EXT or kind == N_OSO
        end = names.find(b"\0", place) if named else place
        name = budget.spend(names[place : end if end >= 0 else len(names)]) if named else ""
        rows.append(SymbolRow(name, kind, section, description, value))
    return rows


def plain_name(name: str) -> str:
    """A symbol's name without the underscore that the platform puts before the names of C: ``_ZN1a1fEv``."""
    return name[1:] if name.startswith("_") and name != "_" else name


CODE = S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS

CONSTANTS = "__const"
"""What is constant and holds addresses: older linkers leave it in a segment that stays writable."""


class MachoExport(msgspec.Struct, frozen=True):
    """An export and its place. ``address`` is ``None`` for what has none here: absolute and re-exported symbols."""

    name: Name
    symbol: Symbol
    address: int | None


class SectionMap:
    """Which section holds an address, and how far it is to the next symbol."""

    def __init__(self, macho: MachOFile, rows: Iterable[SymbolRow]) -> None:
        self._sections = sorted((each for each in macho.sections if each.size), key=lambda each: each.address)
        self._starts = [each.address for each in self._sections]
        self._segments = {each.name: each for each in macho.segments}
        defined = [row for row in rows if not row.type & N_STAB and row.type & N_TYPE == N_SECT]
        self._marked = any(not row.type & N_EXT or row.type & N_PEXT for row in defined)
        self._symbols = sorted({row.value for row in defined})

    def section(self, address: int) -> MachoSection | None:
        """The section that holds ``address``."""
        place = bisect_right(self._starts, address) - 1
        found = self._sections[place] if place >= 0 else None
        return found if found is not None and address < found.address + found.size else None

    def is_read_only(self, section: MachoSection) -> bool:
        """Whether nobody may write to what lies in ``section`` once the loader has relocated it.

        That is what compilers put among constants, and a segment that is not writable, or not any more then.
        """
        segment = self._segments.get(section.segment)
        kept = segment is None or not segment.protection & VM_PROT_WRITE or bool(segment.flags & SG_READ_ONLY)
        return kept or section.name == CONSTANTS

    def size(self, name: str, address: int, section: MachoSection) -> tuple[int, int]:
        """The most bytes that an object has, and how many of them may be padding: 0 where nobody can tell.

        The format has no sizes: an object ends before the next symbol. Once ``strip`` took the local symbols out, what
        lies between two exports may be other objects. Among constants compilers put some that have no symbol at all:
        the initial values of variables, and tables for jumps; tables of construction vtables stand among other tables.
        """
        if not self._marked or (self.is_read_only(section) and not name.startswith(VTT)):
            return 0, 0
        place = bisect_right(self._symbols, address)
        end = section.address + section.size
        after = min(self._symbols[place], end) if place < len(self._symbols) else end
        return after - address, min((1 << min(section.alignment, 15)) - 1, after - address - 1)


def exported(
    macho: MachOFile, rows: list[SymbolRow], needed: tuple[Dylib, ...], listed: Iterable[TrieExport]
) -> Iterator[MachoExport]:
    """The exports of a file, of those that are ``listed``. Raises :class:`Malformed`."""
    places = SectionMap(macho, rows)
    for each in listed:
        name = plain_name(each.name)
        if not name or name in OWN or DIRECTIVE.match(each.name):
            continue
        if each.flags & REEXPORT:
            owner = provider(each.ordinal, needed) or "?"
            behind = f"{owner}:{plain_name(each.other_name) or name}"
            yield MachoExport(Name(guessed_kind(name), name), Symbol("unknown", forwarded_to=behind), None)
        else:
            yield _placed(each, name, macho.base + each.address, places)


def _placed(each: TrieExport, name: str, address: int, places: SectionMap) -> MachoExport:
    weak, kind = bool(each.flags & WEAK), each.flags & KIND
    if kind == ABSOLUTE:
        return MachoExport(Name("variable", name), Symbol("unknown", weak), None)
    section = places.section(address)
    if kind == THREAD_LOCAL or (section and section.type == S_THREAD_LOCAL_VARIABLES):
        return MachoExport(Name("variable", name), Symbol("thread_local", weak), address)
    if section is None:
        return MachoExport(Name(guessed_kind(name), name), Symbol("unknown", weak), address)
    if section.flags & CODE:
        return MachoExport(Name("function", name), Symbol("function", weak), address)
    size, padding = places.size(name, address, section)
    read_only = None if name.startswith(CLASS_DATA) else places.is_read_only(section)
    facts = MachoSymbol(padding, read_only)
    symbol = Symbol("data", weak, size, macho=facts if facts != MachoSymbol() else None)
    return MachoExport(Name("variable", name), symbol, address)


def guessed_kind(name: str) -> Literal["function", "variable"]:
    """What a name stands for where no section tells: the data of classes have names of their own."""
    return "variable" if name.startswith((*CLASS_DATA, "OBJC_")) else "function"


def listed_exports(macho: MachOFile, rows: list[SymbolRow]) -> Iterable[TrieExport]:
    """What the trie of a file lists, or its symbol table where it has none: directives for linkers too."""
    trie = macho.first(LC_DYLD_EXPORTS_TRIE)
    if trie is not None:
        return read_trie(macho.read_at(*macho.unpacked(trie, "II")))
    info = macho.first(LC_DYLD_INFO_ONLY, LC_DYLD_INFO)
    if info is not None:
        return read_trie(macho.read_at(*macho.unpacked(info, "10I")[8:10]))
    return _in_table(rows, macho.base)


def _in_table(rows: Iterable[SymbolRow], base: int) -> Iterator[TrieExport]:
    """The exports that the symbol table names, as the trie would tell them."""
    for row in rows:
        if row.type & N_STAB or not row.type & N_EXT or row.type & N_PEXT:
            continue
        weak = WEAK if row.description & N_WEAK_DEF else 0
        sort = row.type & N_TYPE
        if sort == N_SECT:
            yield TrieExport(row.name, weak, row.value - base)
        elif sort in (N_ABS, N_INDR):
            yield TrieExport(row.name, weak | ABSOLUTE)


def index_exports(found: Iterable[MachoExport], rows: Iterable[SymbolRow]) -> Exports:
    """The address index of what :func:`exported` gave. Thread-local variables lie where their descriptors are."""
    thumb = {row.value for row in rows if row.description & N_ARM_THUMB_DEF and row.type & N_TYPE == N_SECT}
    addresses: dict[int, set[str]] = {}
    offsets: dict[int, set[str]] = {}
    exports = Exports()
    for each in found:
        name = each.name
        exports.kinds[name.spelling] = "function" if name.kind == "function" else "variable"
        if each.address is not None:
            where = offsets if each.symbol.type == "thread_local" else addresses
            place = each.address & ~1 if each.address in thumb else each.address
            where.setdefault(place, set()).add(name.spelling)
    exports.by_address = {address: tuple(sorted(names)) for address, names in addresses.items()}
    exports.tls_by_offset = {offset: tuple(sorted(names)) for offset, names in offsets.items()}
    return exports


_HEADER = struct.Struct("<7I")
_WITH_ORDINALS = {1: ("I", 8), 2: ("Ii", 8), 3: ("QQ", 16)}
"""The formats of chained imports: how one is packed, and how many bits its ordinal has."""

OPCODE, IMMEDIATE = 0xF0, 0x0F
_LIBRARY, _LIBRARY_LONG, _LIBRARY_SPECIAL, _SYMBOL = 0x10, 0x20, 0x30, 0x40
_ADDEND, _PLACE, _SKIP, _BIND, _BIND_SKIP, _BIND_SKIP_SMALL, _BIND_MANY, _THREADED = range(0x60, 0xE0, 0x10)
_NUMBERS = {_ADDEND: 1, _PLACE: 1, _SKIP: 1, _BIND_SKIP: 1, _BIND_MANY: 2}
_BINDING = frozenset({_BIND, _BIND_SKIP, _BIND_SKIP_SMALL, _BIND_MANY})


class BoundSymbol(msgspec.Struct, frozen=True):
    """A symbol that dyld looks for, in the library of this ordinal."""

    name: str
    ordinal: int
    weak: bool


def imported(macho: MachOFile, rows: list[SymbolRow], needed: tuple[Dylib, ...]) -> Iterator[tuple[Name, Import]]:
    """The imports of a file, each once for every library that it is asked of. Raises :class:`Malformed`."""
    two_level = bool(macho.flags & MH_TWOLEVEL)
    found = set(_bound(macho))
    known = {each.name for each in found}
    found |= {each for each in _undefined(rows) if each.name not in known}
    for each in sorted(found, key=lambda one: (one.name, one.ordinal, one.weak)):
        if each.name and (each.ordinal != SELF_ORDINAL or not two_level):
            library = provider(each.ordinal, needed) if two_level else None
            yield Name("import", plain_name(each.name)), Import(weak=each.weak, library=library)


def _undefined(rows: list[SymbolRow]) -> Iterator[BoundSymbol]:
    for row in rows:
        if not row.type & N_STAB and row.type & N_EXT and row.type & N_TYPE == N_UNDF and not row.value:
            ordinal = row.description >> 8 & 0xFF
            yield BoundSymbol(row.name, ordinal - 256 if ordinal > 253 else ordinal, bool(row.description & N_WEAK_REF))


def _bound(macho: MachOFile) -> Iterator[BoundSymbol]:
    if macho.chained is not None:
        offset, size = macho.unpacked(macho.chained, "II")
        yield from chained_imports(macho.read_at(offset, size), macho.max_bytes)
        return
    command = macho.first(LC_DYLD_INFO_ONLY, LC_DYLD_INFO)
    if command is not None:
        _, _, offset, size, _, _, lazy_offset, lazy_size, _, _ = macho.unpacked(command, "10I")
        yield from bind_opcodes(macho.read_at(offset, size))
        yield from bind_opcodes(macho.read_at(lazy_offset, lazy_size))


def bind_opcodes(data: bytes) -> Iterator[BoundSymbol]:
    """The symbols that a list of opcodes binds. In the lazy list, every entry has an end of its own."""
    budget = NameBudget(len(data))
    place, ordinal, weak, name = 0, 0, False, ""
    while place < len(data):
        opcode, low = data[place] & OPCODE, data[place] & IMMEDIATE
        place += 1
        if opcode == _LIBRARY:
            ordinal = low
        elif opcode == _LIBRARY_LONG:
            ordinal, place = unsigned(data, place)
        elif opcode == _LIBRARY_SPECIAL:
            ordinal = low - 16 if low else 0
        elif opcode == _SYMBOL:
            raw, place = text(data, place)
            name, weak = budget.spend(raw), bool(low & 1)
        elif opcode in _BINDING:
            yield BoundSymbol(name, ordinal, weak)
        for _ in range(_NUMBERS.get(opcode, int(opcode == _THREADED and low == 0))):
            _, place = unsigned(data, place)


def chained_imports(data: bytes, max_bytes: int) -> Iterator[BoundSymbol]:
    """The imports of chained fixups, in the order of their ordinals (``mach-o/fixup-chains.h``)."""
    if len(data) < _HEADER.size:
        raise Malformed("the chained fixups are cut off")
    _version, _starts, imports, symbols, count, form, packed = _HEADER.unpack_from(data)
    if form not in _WITH_ORDINALS:
        raise Malformed(f"the chained fixups are of the unknown format {form}")
    layout, bits = struct.Struct("<" + _WITH_ORDINALS[form][0]), _WITH_ORDINALS[form][1]
    if imports + count * layout.size > len(data):
        raise Malformed("the chained fixups have more imports than bytes")
    names = _names(data[symbols:], packed, max_bytes)
    budget = NameBudget(len(names))
    for word, *_ in layout.iter_unpack(data[imports : imports + count * layout.size]):
        ordinal = word & (1 << bits) - 1
        if ordinal > (1 << bits) - 16:  # the special ones are negative
            ordinal -= 1 << bits
        name, _ = text(names, word >> (32 if bits == 16 else 9))
        yield BoundSymbol(budget.spend(name), ordinal, bool(word >> bits & 1))


def _names(data: bytes, packed: int, max_bytes: int) -> bytes:
    if not packed:
        return data
    try:
        return zlib.decompressobj().decompress(data, min(max_bytes, 1032 * len(data) + 64))
    except zlib.error as error:
        raise Malformed(f"the names of chained fixups are corrupt: {error}") from error
