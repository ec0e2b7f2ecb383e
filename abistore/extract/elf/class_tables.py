"""What vtables and type information point to, by dynamic relocations: known without any debug information.

A word that a relocation fills is a symbol (its own, or one of another library), or an address in the library. Tables
are those of exported classes; relocations may point anywhere, and what leads nowhere is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.class_tables import MOST_IN_ALL, MOST_WORDS, named_words, names_at
from abistore.extract.elf.container import DT_RELR, DynamicSection
from abistore.extract.elf.symbols import DynamicSymbol
from abistore.model.declarations import Name
from abistore.model.names.symbols import MEMBER, TYPEINFO, VTABLE, is_of_standard_library
from abistore.model.shapes import ElfSymbol, Symbol

DT_RELA, DT_RELASZ, DT_REL, DT_RELSZ, DT_RELRSZ = 7, 8, 17, 18, 35
DT_PLTRELSZ, DT_PLTREL, DT_JMPREL = 2, 20, 23
PACKED: Final = (0x6000000F, 0x60000011)
"""DT_ANDROID_REL and DT_ANDROID_RELA, which are not read."""

CHUNK: Final = 1 << 16
"""Relocations that are unpacked at once."""

MOST_BITMAPS: Final = 1 << 18
"""Entries of compact relocations that are read."""

TABLES: Final = frozenset({VTABLE, TYPEINFO})

Exported = tuple[DynamicSymbol, Name, Symbol]


def is_member_of_instance(name: Name) -> bool:
    """Whether ``name`` may be a member function of a template's instance, other than the standard library's."""
    symbol = name.spelling
    own = name.kind == "function" and symbol.startswith(MEMBER) and "I" in symbol
    return own and not is_of_standard_library(symbol)


class ClassTables:
    """The words of the tables of exported classes, each as the symbol that it points to."""

    def __init__(self, dynamic: DynamicSection, rows: Sequence[DynamicSymbol]) -> None:
        self._dynamic = dynamic
        self._elf = dynamic.elf
        self._rows = rows
        self._width = dynamic.elf.bits // 8
        self._word = "Q" if dynamic.elf.bits == 64 else "I"

    def filled(self, found: Sequence[Exported]) -> list[Exported]:
        """``found`` with the words of tables."""
        wanted, left = set[int](), MOST_IN_ALL
        places: list[int] = []
        for place, (row, name, _) in enumerate(found):
            if name.spelling[:4] in TABLES and (left := left - len(self._addresses(row))) > 0:
                places.append(place)
                wanted.update(self._addresses(row))
        filled = list(found)
        words = dict(self._words(wanted)) if wanted else {}
        for place in places:
            row, name, symbol = found[place]
            if table := self._table(row, words):
                filled[place] = row, name, replace(symbol, table=table)
        return filled

    def marked(self, found: Sequence[Exported]) -> list[Exported]:
        """``found`` with what the library itself never mentions among the members of template instances.

        Calls of what other libraries may replace go through relocations. Where not one mentions a function that this
        library defines, the linker has bound them all, and nothing is known.
        """
        places = [place for place, (_, name, symbol) in enumerate(found) if symbol.weak and is_member_of_instance(name)]
        if not places or any(self._dynamic.get(tag) for tag in PACKED):
            return list(found)
        mentioned = self._mentioned()
        used = {row.value for row, name, _ in found if row.index in mentioned and name.kind == "function"}
        marked = list(found)
        for place in places if used else ():
            row, name, symbol = found[place]
            if row.value not in used:
                marked[place] = row, name, replace(symbol, elf=replace(symbol.elf or ElfSymbol(), unused=True))
        return marked

    def _mentioned(self) -> set[int]:
        shift = 32 if self._elf.bits == 64 else 8
        calls = 3 if self._dynamic.get(DT_PLTREL) == DT_RELA else 2
        found = set[int]()
        for tag, size, columns in ((DT_RELA, DT_RELASZ, 3), (DT_REL, DT_RELSZ, 2), (DT_JMPREL, DT_PLTRELSZ, calls)):
            for values in self._values(tag, size, columns):
                found.update([value >> shift for value in values[1::columns]])
        return found

    def copied(self, copying: int) -> set[int]:
        """The indexes of the symbols of which the program has a copy: those of relocations of this type."""
        shift, types = (32, 0xFFFFFFFF) if self._elf.bits == 64 else (8, 0xFF)
        found = set[int]()
        for tag, size, columns in ((DT_RELA, DT_RELASZ, 3), (DT_REL, DT_RELSZ, 2)):
            for values in self._values(tag, size, columns):
                found.update([value >> shift for value in values[1::columns] if value & types == copying])
        return found

    def _addresses(self, row: DynamicSymbol) -> range:
        return range(row.value, row.value + min(row.size, MOST_WORDS * self._width) - self._width + 1, self._width)

    def _table(self, row: DynamicSymbol, words: Mapping[int, str]) -> tuple[str, ...]:
        return named_words(row.name, [words.get(address, "") for address in self._addresses(row)])

    def _words(self, wanted: set[int]) -> Iterator[tuple[int, str]]:
        """What stands at the ``wanted`` addresses."""
        found = list(self._relocations(wanted))
        targets = {target for _, symbol, target in found if not symbol}
        named = names_at((row.value, row.name) for row in self._rows if row.value in targets and row.section)
        needed = {symbol for _, symbol, _ in found}
        by_index = {row.index: row.name for row in self._rows if row.index in needed}
        for address, symbol, target in found:
            yield address, by_index.get(symbol, "") if symbol else named.get(target, "")

    # --- relocations ----------------------------------------------------------------------------------------------

    def _relocations(self, wanted: set[int]) -> Iterator[tuple[int, int, int]]:
        """The relocations at ``wanted`` addresses: the address, the index of a symbol or 0, the address it is given."""
        shift = 32 if self._elf.bits == 64 else 8
        for tag, size, columns in ((DT_RELA, DT_RELASZ, 3), (DT_REL, DT_RELSZ, 2)):
            for values in self._values(tag, size, columns):
                places = values[::columns]
                for index in [index for index, place in enumerate(places) if place in wanted]:
                    place, symbol = places[index], values[index * columns + 1] >> shift
                    kept = symbol or columns == 3
                    yield place, symbol, values[index * columns + columns - 1] if kept else self._stored(place)
        low, high = min(wanted), max(wanted)
        for place in self._relative(low, high):
            if place in wanted:
                yield place, 0, self._stored(place)

    def _values(self, tag: int, size: int, columns: int = 1) -> Iterator[Sequence[int]]:
        """The words of a table of whole rows, some at a time; none where the file has not all of it."""
        address, length = self._dynamic.get(tag), self._dynamic.get(size)
        if address is None or not length:
            return
        row = columns * self._width
        try:
            data = self._elf.at_address(address, length // row * row)
        except ExtractError:
            return
        for start in range(0, len(data), CHUNK * row):
            piece = data[start : start + CHUNK * row]
            yield struct.unpack(f"{self._elf.order}{len(piece) // self._width}{self._word}", piece)

    def _relative(self, low: int, high: int) -> Iterator[int]:
        """The places from ``low`` to ``high`` of compact relocations: an address, then bitmaps of the words after it.

        A bitmap that lies outside costs one step.
        """
        words, place = self._elf.bits - 1, 0
        entries = (entry for values in self._values(DT_RELR, DT_RELRSZ) for entry in values)
        for entry in islice(entries, MOST_BITMAPS):
            if not entry & 1:
                yield entry
                place = entry + self._width
                continue
            if place <= high and place + words * self._width > low:
                yield from (place + bit * self._width for bit in range(words) if entry >> (bit + 1) & 1)
            place += words * self._width

    def _stored(self, address: int) -> int:
        """The word in the file at ``address``; 0 where there is none."""
        try:
            data = self._elf.at_address(address, self._width)
        except ExtractError:
            return 0
        return int.from_bytes(data, "little" if self._elf.little else "big")
