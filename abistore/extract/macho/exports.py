"""What a file exports: names, sorts, sizes, and the addresses that join them with debug information."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from abistore.extract.exports import Exports
from abistore.extract.macho.constants import (
    LC_DYLD_EXPORTS_TRIE,
    LC_DYLD_INFO,
    LC_DYLD_INFO_ONLY,
    N_ABS,
    N_ARM_THUMB_DEF,
    N_EXT,
    N_INDR,
    N_PEXT,
    N_SECT,
    N_STAB,
    N_TYPE,
    N_WEAK_DEF,
    S_ATTR_PURE_INSTRUCTIONS,
    S_ATTR_SOME_INSTRUCTIONS,
    S_THREAD_LOCAL_VARIABLES,
    SG_READ_ONLY,
    VM_PROT_WRITE,
)
from abistore.extract.macho.container import MachOFile, MachoSection
from abistore.extract.macho.dependencies import Dylib, provider
from abistore.extract.macho.symbol_table import DIRECTIVE, OWN, SymbolRow, plain_name
from abistore.extract.macho.trie import ABSOLUTE, KIND, REEXPORT, THREAD_LOCAL, WEAK, TrieExport, read_trie
from abistore.model.mangling.symbols import CLASS_DATA, VTT
from abistore.model.names import Name
from abistore.model.tables import MachoSymbol, Symbol

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
