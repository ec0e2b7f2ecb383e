"""Which exports the dynamic linker finds: those that it does not are no exports, whatever the symbol table says."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from abistore.extract.elf.dynamic import DT_SYMTAB, DynamicSection
from abistore.extract.elf.hash_tables import unfound
from abistore.extract.elf.symbols import DynamicSymbol, FoundExport
from abistore.extract.elf.versions import SymbolVersions
from abistore.model.snapshot import NOT_FOUND_BY_LINKER, Evidence
from abistore.model.words.counting import counted

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
            hint="link the library anew: what changed it left its tables in disagreement",
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
