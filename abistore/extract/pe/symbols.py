"""The export and import directories of a DLL, and machine names of PE files."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from abistore.errors import ExtractError
from abistore.extract.files import Exports, text_at
from abistore.extract.pe.container import DELAY_IMPORTS, EXPORTS, IMPORTS, PeFile
from abistore.model.declarations import Kind, Name
from abistore.model.names.symbols import CLASS_DATA, without_stack
from abistore.model.shapes import Import, PeSymbol, Symbol
from abistore.model.snapshot import Target

I386: Final = 0x14C
"""The one machine on which compilers put ``_`` before each symbol."""

_NAMES: Final = {
    I386: "i386",
    0x8664: "x86_64",
    0xAA64: "aarch64",
    0xA641: "arm64ec",
    0xA64E: "arm64x",
    0x1C0: "arm",
    0x1C2: "arm",
    0x1C4: "arm",
    0x200: "ia64",
    0x5032: "riscv32",
    0x5064: "riscv64",
    0x6232: "loongarch32",
    0x6264: "loongarch64",
}
"""PE format, "Machine Types"."""

_SUBSYSTEMS: Final = {
    **{1: "native", 2: "gui", 3: "console", 7: "posix", 9: "windows-ce", 10: "efi-application", 11: "efi-boot-driver"},
    **{12: "efi-runtime-driver", 13: "efi-rom", 14: "xbox", 16: "boot-application"},
}


def is_machine(number: int) -> bool:
    """Whether ``number`` is a machine that object files are for."""
    return number in _NAMES


def is_thumb(machine: int) -> bool:
    """Whether the lowest bit of a code address is no part of it."""
    return _NAMES.get(machine) == "arm"


def is_arm64(machine: int) -> bool:
    """Whether code is that of ARM's 64-bit processors."""
    return _NAMES.get(machine) in ("aarch64", "arm64ec", "arm64x")


def target_of(machine: int, bits: int) -> Target:
    """The platform of a file for ``machine``."""
    return Target(
        format="pe",
        machine=_NAMES.get(machine, f"machine-{machine:#x}"),
        bits=64 if bits == 64 else 32,
        endianness="little",
        os_abi="windows",
    )


def subsystem_name(number: int) -> str:
    """What a file says it runs under: ``console`` and ``gui`` are the same for a DLL."""
    return _SUBSYSTEMS.get(number, f"subsystem-{number}")


MOST_ORDINALS: Final = 1 << 16
"""Ordinals have sixteen bits."""

_DIRECTORY: Final = struct.Struct("<12xIIIIIII")


class PeExport(msgspec.Struct, frozen=True):
    """One export: its address (0 of a forwarder), its number, and the ``LIBRARY.symbol`` that it is forwarded to.

    ``read_only`` is of objects, where a section holds them. ``behind`` are the symbols at the address of an export that
    is called otherwise, or has no name.
    """

    name: str
    address: int
    ordinal: int
    forwarded_to: str | None = None
    is_code: bool = True
    read_only: bool | None = None
    behind: tuple[str, ...] = ()


class ExportDirectory(msgspec.Struct, frozen=True):
    """What a DLL exports, and its own name for itself.

    ``ordinals_chosen``: its author numbered the exports. Linkers number them in the order of their names otherwise, so
    that each further export moves the numbers of others and nobody can rely on them.
    """

    dll: str | None = None
    exports: tuple[PeExport, ...] = ()
    ordinals_chosen: bool = False

    def symbols(self) -> Iterator[tuple[PeExport, Name, Symbol]]:
        """The exports with their names and shapes."""
        for export in self.exports:
            kind: Kind = "function" if export.is_code else "variable"
            numbered = self.ordinals_chosen or export.name.startswith("#")
            facts = PeSymbol(read_only=export.read_only, behind=export.behind)
            symbol = Symbol(
                "unknown" if export.forwarded_to else "function" if export.is_code else "data",
                ordinal=export.ordinal if numbered else None,
                forwarded_to=export.forwarded_to,
                pe=facts if facts != PeSymbol() else None,
            )
            yield export, Name(kind, export.name), symbol


def read_exports(pe: PeFile) -> ExportDirectory:
    """The export directory of ``pe``. Raises :class:`ExtractError` where it contradicts itself."""
    start, size = pe.directory(EXPORTS)
    if not start or not size:
        return ExportDirectory()
    header = pe.at_address(start, _DIRECTORY.size)
    name, base, functions, named, addresses, names, ordinals = _DIRECTORY.unpack(header)
    if functions > MOST_ORDINALS:
        raise ExtractError(f"{pe.path}: its export directory is corrupt: it claims {functions:,} exports")
    places = struct.unpack(f"<{functions}I", pe.at_address(addresses, 4 * functions)) if functions else ()
    numbers = struct.unpack(f"<{named}H", pe.at_address(ordinals, 2 * named)) if named else ()
    texts = _texts(pe, struct.unpack(f"<{named}I", pe.at_address(names, 4 * named)) if named else ())
    directory = range(start, start + size)
    rows = [(text, number) for text, number in zip(texts, numbers, strict=True) if number < functions and text]
    nameless = sorted({*range(functions)} - {number for _, number in rows})
    rows += [(f"#{number + base}", number) for number in nameless]
    found = (_export(pe, text, number + base, places[number], directory) for text, number in rows)
    exports = [each for each in found if each is not None]
    dll = pe.text_at(name) if name else None
    chosen = [number + base for number in numbers] != list(range(1, named + 1))
    return ExportDirectory(dll or None, tuple(_with_symbols(pe, exports)), chosen)


def _with_symbols(pe: PeFile, exports: Sequence[PeExport]) -> Iterator[PeExport]:
    """The exports, each with the symbols at its address where none is called like it."""
    symbols = pe.external_symbols({each.address for each in exports if each.address})
    mark = "_" if pe.machine == I386 else ""
    for each in exports:
        behind = tuple(name.removeprefix(mark) for name in symbols.get(each.address, ()))
        own = without_stack(each.name)
        called = any(without_stack(name) == own for name in behind)
        yield each if called else msgspec.structs.replace(each, behind=behind)


def _export(pe: PeFile, name: str, ordinal: int, address: int, directory: range) -> PeExport | None:
    if not address:
        return None  # a number between others that nothing has
    if address in directory:
        return PeExport(name, 0, ordinal, pe.text_at(address))
    section = pe.section_at(address)
    if section is None or section.is_code:
        return PeExport(name, address, ordinal, is_code=section is not None)
    read_only = None if name.startswith(CLASS_DATA) else not section.is_writable
    return PeExport(name, address, ordinal, is_code=False, read_only=read_only)


def _texts(pe: PeFile, places: Sequence[int]) -> list[str]:
    """The texts at many addresses. Raises :class:`ExtractError` where they overlap so much as to fill the memory."""
    budget = 16 * pe.size + (1 << 20)
    texts = []
    for place in places:
        text = pe.text_at(place)
        budget -= len(text)
        if budget < 0:
            raise ExtractError(f"{pe.path}: the names of its exports overlap and would exceed the memory limit")
        texts.append(text)
    return texts


def index_exports(pe: PeFile, directory: ExportDirectory) -> Exports:
    """The address index of what is exported; addresses are absolute, as in debug information."""
    found: dict[int, set[str]] = {}
    exports = Exports()
    for export, name, _ in directory.symbols():
        exports.kinds[export.name] = name.kind
        if export.forwarded_to is None:
            address = export.address & ~1 if is_thumb(pe.machine) and export.is_code else export.address
            found.setdefault(pe.image_base + address, set()).add(export.name)
    exports.by_address = {address: tuple(sorted(names)) for address, names in found.items()}
    return exports


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
            raise ExtractError(
                f"{self._pe.path}: its import directory is corrupt: the names would exceed the memory limit"
            )


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
