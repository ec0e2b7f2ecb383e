"""The export directory: names, ordinals, forwarders, and whether an export is code or data."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from abistore.errors import ExtractError
from abistore.extract.exports import Exports
from abistore.extract.pe.container import EXPORTS, PeFile
from abistore.extract.pe.machines import I386, is_thumb
from abistore.model.mangling.symbols import CLASS_DATA, without_stack
from abistore.model.names import Kind, Name
from abistore.model.tables import PeSymbol, Symbol

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
        raise ExtractError(f"{pe.path}: its export directory is corrupt: it tells of {functions:,} exports")
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
            raise ExtractError(f"{pe.path}: the names of its exports overlap: together they would fill the memory")
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
