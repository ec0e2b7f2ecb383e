"""The import directories: symbols of other DLLs that are bound when the file is loaded, or at their first call."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from abistore.errors import ExtractError
from abistore.extract.pe.container import DELAY_IMPORTS, IMPORTS, PeFile
from abistore.extract.string_table import text_at
from abistore.model.names import Name
from abistore.model.tables import Import

MOST_DLLS: Final = 1 << 12
MOST_SYMBOLS: Final = 1 << 20

_ORDINARY: Final = struct.Struct("<I8xII")
_DELAYED: Final = struct.Struct("<IIIIIIII")


class ImportedDll(msgspec.Struct, frozen=True):
    """One DLL that a file needs, in lower case as Windows does not tell cases apart, and the symbols it asks for."""

    name: str
    symbols: tuple[str, ...]
    delayed: bool = False


def read_imports(pe: PeFile) -> tuple[ImportedDll, ...]:
    """The DLLs in load order, then those that are loaded at the first call. Raises :class:`ExtractError`."""
    budget = _Budget(pe)
    found: list[ImportedDll] = []
    loaded = ((name, thunks, False) for name, thunks, _ in _rows(pe))
    for name, thunks, delayed in (*loaded, *_delayed(pe)):
        dll = pe.text_at(name).lower()
        budget.spend(len(dll))
        found.append(ImportedDll(dll, tuple(filter(None, _symbols(pe, thunks, budget))), delayed))
        if len(found) > MOST_DLLS:
            raise ExtractError(f"{pe.path}: its import directory is corrupt: more than {MOST_DLLS:,} DLLs")
    return tuple(found)


def shapes(dlls: tuple[ImportedDll, ...]) -> Iterator[tuple[Name, Import]]:
    """The imported symbols, each with the DLL that it is asked of."""
    for dll in dlls:
        known = Import(library=dll.name)
        for symbol in dll.symbols:
            yield Name("import", symbol), known


def bound_places(pe: PeFile) -> Mapping[int, str]:
    """Where the loader writes the addresses of symbols of other DLLs, without those bound at the first call."""
    budget, found = _Budget(pe), dict[int, str]()
    for _, names, addresses in _rows(pe):
        for number, symbol in enumerate(_symbols(pe, names, budget)):
            found[addresses + number * (pe.bits // 8)] = symbol
    return found


class _Budget:
    """What the names together may take: a damaged table may have each of them be the rest of the file."""

    def __init__(self, pe: PeFile) -> None:
        self._pe = pe
        self._left = 16 * pe.size + (1 << 20)
        self._symbols = MOST_SYMBOLS

    def spend(self, letters: int) -> None:
        self._left -= letters
        self._symbols -= 1
        if self._left < 0 or self._symbols < 0:
            raise ExtractError(f"{self._pe.path}: its import directory is corrupt: the names would fill the memory")


def _rows(pe: PeFile) -> Iterator[tuple[int, int, int]]:
    """The name of each DLL, the names of its symbols, and the places of their addresses."""
    start, size = pe.directory(IMPORTS)
    if not start or not size:
        return
    contents, place = pe.window(start)
    for offset in range(place, len(contents) - 19, 20):
        names, dll, addresses = _ORDINARY.unpack_from(contents, offset)
        if not dll or not addresses:
            return
        yield dll, names or addresses, addresses


def _delayed(pe: PeFile) -> Iterator[tuple[int, int, bool]]:
    start, size = pe.directory(DELAY_IMPORTS)
    if not start or not size:
        return
    contents, place = pe.window(start)
    for offset in range(place, len(contents) - 31, 32):
        attributes, dll, _, _, names, *_ = _DELAYED.unpack_from(contents, offset)
        if not dll:
            return
        base = 0 if attributes & 1 else pe.image_base  # Visual C++ 6 wrote absolute addresses
        yield dll - base, names - base, True


def _symbols(pe: PeFile, thunks: int, budget: _Budget) -> Iterator[str]:
    contents, place = pe.window(thunks)
    width, word = (8, struct.Struct("<Q")) if pe.bits == 64 else (4, struct.Struct("<I"))
    by_number = 1 << (pe.bits - 1)
    for offset in range(place, len(contents) - width + 1, width):
        (value,) = word.unpack_from(contents, offset)
        if not value:
            return
        if value & by_number:
            symbol = f"#{value & 0xFFFF}"
        else:
            window, start = pe.window(value & 0x7FFFFFFF)
            symbol = text_at(window, start + 2)
        budget.spend(len(symbol))
        yield symbol
