"""What vtables and type information of a DLL point to, by the relocations of its base address.

MinGW writes the tables of the Itanium C++ ABI. Visual C++ exports vtables alone: the word before one leads to the type
information, which lists the bases.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.pe.container import PeFile
from abistore.extract.pe.exports import PeExport
from abistore.extract.pe.imports import bound_places
from abistore.extract.pe.machines import is_arm64, is_thumb
from abistore.extract.pe.relocations import Relocations
from abistore.extract.types.class_tables import Image, Table, TableReader, Word, is_table, names_at
from abistore.model.mangling.decorated import DESCRIPTOR, VFTABLE
from abistore.model.names import Name
from abistore.model.tables import PeSymbol, Symbol

MOST_BASES: Final = 1 << 10

_JUMP: Final = struct.Struct("<HI")
_JUMP_INDIRECT: Final = 0x25FF
_ARM_JUMP: Final = struct.Struct("<III")

_LOCATOR: Final = struct.Struct("<5I")
_HIERARCHY: Final = struct.Struct("<4I")

PURE: Final = "__cxa_pure_virtual"

Exported = tuple[PeExport, Name, Symbol]


def filled(pe: PeFile, found: Sequence[Exported]) -> list[Exported]:
    """``found`` with the words of tables, and the sizes of those whose end is known."""
    if not any(_has_words(name.spelling) for _, name, _ in found):
        return list(found)
    tables = _Tables(pe, found)
    return [
        (export, name, tables.filled(export, symbol)) if _has_words(name.spelling) and export.address else each
        for each in found
        for export, name, symbol in (each,)
    ]


def _has_words(symbol: str) -> bool:
    return is_table(symbol) or symbol.startswith(VFTABLE)


class _Tables:
    """The tables of one DLL."""

    def __init__(self, pe: PeFile, found: Sequence[Exported]) -> None:
        self._pe = pe
        self._relocations = Relocations(pe)
        self._imported = bound_places(pe)
        self._width = pe.bits // 8
        exported = {export.address for export, _, _ in found if export.address}
        self._reader = TableReader(
            Image(
                width=self._width,
                word=self._word,
                plain=self._number,
                is_code=self._is_code,
                names=names_at((*self._named(found), *self._pure())),
                ends=tuple(sorted(exported | {each.address + each.memory_size for each in pe.sections})),
            )
        )

    def _named(self, found: Sequence[Exported]) -> Iterator[tuple[int, str]]:
        return ((self._code(export), name.spelling) for export, name, _ in found if export.address)

    def _pure(self) -> Iterator[tuple[int, str]]:
        """The function of pure ones, where the runtime is linked in and symbols are not stripped."""
        found = (self._pe.symbol(f"{prefix}{PURE}") for prefix in ("", "_"))
        return ((address, PURE) for address in found if address is not None)

    def filled(self, export: PeExport, symbol: Symbol) -> Symbol:
        """``symbol`` with the words of its table."""
        made = self._of_visual_cpp if export.name.startswith(VFTABLE) else self._of_mingw
        table = made(export)
        facts = PeSymbol(padding=table.padding) if table.padding else None
        return replace(symbol, table=table.words, size=table.size, pe=facts)

    def _of_mingw(self, export: PeExport) -> Table:
        return self._reader.table(export.name, export.address)

    def _of_visual_cpp(self, export: PeExport) -> Table:
        """The bases of the class and its functions. Only where there are type information does it tell its end."""
        functions = self._reader.functions(export.address)
        bases = tuple(self._bases(self._relocations.target(export.address - self._width)))
        words = (*bases[1:], *functions)
        return Table(words if any(words) else (), len(functions) * self._width if bases else 0)

    # --- words ----------------------------------------------------------------------------------------------------

    def _word(self, address: int) -> Word:
        target = self._relocations.target(address)
        if target is None or not self._is_code(target):
            return target
        target = target & ~1 if is_thumb(self._pe.machine) else target
        return self._behind(target) or target

    def _code(self, export: PeExport) -> int:
        return export.address & ~1 if export.is_code and is_thumb(self._pe.machine) else export.address

    def _is_code(self, address: int) -> bool:
        section = self._pe.section_at(address)
        return section is not None and section.is_code

    def _number(self, address: int) -> int:
        try:
            return int.from_bytes(self._pe.at_address(address, 4), "little")
        except ExtractError:
            return 0

    def _behind(self, address: int) -> str:
        """The symbol of another DLL that the code at ``address`` jumps to; empty where it does something else."""
        try:
            place = self._jump(address)
        except ExtractError:
            return ""
        return self._imported.get(place, "")

    def _jump(self, address: int) -> int:
        """The place that a jump reads its target from; 0 of other code."""
        if is_arm64(self._pe.machine):
            return _arm_jump(address, *_ARM_JUMP.unpack(self._pe.at_address(address, _ARM_JUMP.size)))
        opcode, offset = _JUMP.unpack(self._pe.at_address(address, _JUMP.size))
        if opcode != _JUMP_INDIRECT:
            return 0
        if self._pe.bits == 32:
            return int(offset) - self._pe.image_base
        return (address + _JUMP.size + int(offset)) & 0xFFFFFFFF

    # --- type information of Visual C++ ---------------------------------------------------------------------------

    def _bases(self, locator: int | None) -> Iterator[str]:
        """The class and its bases, each as the symbol of its type descriptor; nothing without type information."""
        if locator is None or self._is_code(locator):
            return
        try:
            signature, _, _, own, hierarchy = _LOCATOR.unpack(self._pe.at_address(locator, _LOCATOR.size))
            if signature != (self._pe.bits == 64) or not self._descriptor(own):
                return
            _, _, count, rows = _HIERARCHY.unpack(self._pe.at_address(self._place(hierarchy), _HIERARCHY.size))
            for number in range(min(count, MOST_BASES)):
                row = self._number(self._place(rows) + 4 * number)
                yield self._descriptor(self._number(self._place(row)))
        except ExtractError:
            return

    def _descriptor(self, pointer: int) -> str:
        """The symbol of a type descriptor: it holds the name of its class as ``.?AVWidget@ui@@``."""
        name = self._pe.text_at(self._place(pointer) + 2 * self._width)
        return f"{DESCRIPTOR}{name[1:]}@8" if name.startswith(".?A") else ""

    def _place(self, pointer: int) -> int:
        """Files of 64 bits hold addresses that are relative to the image base, others absolute ones."""
        return pointer if self._pe.bits == 64 else pointer - self._pe.image_base


def _arm_jump(address: int, page: int, load: int, jump: int) -> int:
    """``adrp x16, PAGE``, ``ldr x16, [x16, OFFSET]``, ``br x16``."""
    if page & 0x9F00001F != 0x90000010 or load & 0xFFC003FF != 0xF9400210 or jump != 0xD61F0200:
        return 0
    pages = (page >> 3 & 0x1FFFFC) | (page >> 29 & 3)
    pages -= (pages & 1 << 20) << 1
    return (address & ~0xFFF) + (pages << 12) + (load >> 10 & 0xFFF) * 8
