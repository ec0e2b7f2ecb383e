"""What vtables and type information of a dylib point to, by what dyld writes into them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from abistore.extract.macho.constants import N_SECT, N_STAB, N_TYPE
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.exports import CODE, MachoExport, SectionMap
from abistore.extract.macho.leb import Malformed
from abistore.extract.macho.symbol_table import SymbolRow
from abistore.extract.macho.written.fixups import PAGE, Fixups, fixups, stored
from abistore.extract.types.class_tables import Image, TableReader, is_table, names_at, pages_of
from abistore.model.tables import MachoSymbol


def filled(macho: MachOFile, rows: Sequence[SymbolRow], found: Sequence[MachoExport]) -> list[MachoExport]:
    """``found`` with the words of tables, and with their sizes where these tell more than the symbol table."""
    tables = [each.address for each in found if each.address is not None and is_table(each.name.spelling)]
    if not tables:
        return list(found)
    ends = _ends(macho, rows, found)
    written = _written(macho, pages_of(tables, ends, macho.bits // 8, PAGE))
    reader = TableReader(_image(macho, rows, found, written, ends))
    return [_with_table(reader, each) if is_table(each.name.spelling) else each for each in found]


def _with_table(reader: TableReader, export: MachoExport) -> MachoExport:
    if export.address is None:
        return export
    table = reader.table(export.name.spelling, export.address)
    symbol = replace(export.symbol, table=table.words)
    if table.size and (not symbol.size or table.size < symbol.size):
        facts = MachoSymbol(table.padding) if table.padding else None
        symbol = replace(symbol, size=table.size, macho=facts)
    return replace(export, symbol=symbol)


def _written(macho: MachOFile, pages: frozenset[int]) -> Fixups:
    """What dyld writes; nothing for a file that dyld would refuse, so that no table is known."""
    try:
        return fixups(macho, pages)
    except Malformed:
        return {}


def _ends(macho: MachOFile, rows: Sequence[SymbolRow], found: Sequence[MachoExport]) -> tuple[int, ...]:
    named = {row.value for row in rows if not row.type & N_STAB and row.type & N_TYPE == N_SECT}
    exported = {each.address for each in found if each.address is not None}
    return tuple(sorted(named | exported | {each.address + each.size for each in macho.sections}))


def _image(
    macho: MachOFile, rows: Sequence[SymbolRow], found: Sequence[MachoExport], written: Fixups, ends: tuple[int, ...]
) -> Image:
    sections = SectionMap(macho, rows)

    def is_code(address: int) -> bool:
        section = sections.section(address)
        return section is not None and bool(section.flags & CODE)

    return Image(
        width=macho.bits // 8,
        word=written.get,
        plain=lambda address: stored(macho, address, 4),
        is_code=is_code,
        names=names_at((each.address, each.name.spelling) for each in found if each.address is not None),
        ends=ends,
    )
