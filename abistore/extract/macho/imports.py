"""What a file imports, and from which library: the opcodes of dyld, chained fixups, and undefined symbols."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import msgspec

from abistore.extract.macho.constants import (
    LC_DYLD_INFO,
    LC_DYLD_INFO_ONLY,
    MH_TWOLEVEL,
    N_EXT,
    N_STAB,
    N_TYPE,
    N_UNDF,
    N_WEAK_REF,
)
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.dependencies import SELF_ORDINAL, Dylib, provider
from abistore.extract.macho.leb import Malformed, NameBudget, text, unsigned
from abistore.extract.macho.symbol_table import SymbolRow, plain_name
from abistore.model.names import Name
from abistore.model.tables import Import

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
