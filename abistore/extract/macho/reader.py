"""The Mach-O reader: each architecture of a dylib, bundle or executable, and the debug information of its build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.input_file import InputFile
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.debug_files import find_debug
from abistore.extract.macho.machines import target_of
from abistore.extract.macho.tables import MachoTables, read_tables
from abistore.extract.macho.universal import is_macho, parts_of
from abistore.extract.reader import ExtractOptions, identified
from abistore.limits import allow_more
from abistore.model.snapshot import Snapshot, Target


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a Mach-O file."""
    return is_macho(head)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of each architecture in ``file``.

    Raises :class:`abistore.errors.InputError`, of the kind that tells what is wrong with the file.
    """
    for part in parts_of(file):
        yield _read_part(MachOFile(file, options.max_bytes, part), options)


def _read_part(macho: MachOFile, options: ExtractOptions) -> Snapshot:
    tables = read_tables(macho, programs=options.programs)
    own = tables.own
    binary = unread(
        macho.file,
        options,
        own.name if own else None,
        target_of(macho),
        reader="macho",
        build_id=macho.uuid,
        product_version=own.current if own and own.current != "0.0" else None,
    )
    readings = [symbol_facet(tables.entries, len(tables.exports.kinds))]
    if options.layout:
        readings.append(_layout(macho, tables, options, binary.target))
    return identified(join(binary, readings), macho.file, options)


def _layout(macho: MachOFile, tables: MachoTables, options: ExtractOptions, target: Target) -> FacetReading:
    """What the debug information says; where there is none, why."""
    search = find_debug(macho, options, tables.objects)
    if search.file is None:
        return search.nothing(len(tables.exports.kinds))
    debug = search.file
    allow_more(debug.size)
    from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

    soname = Path(tables.own.name).name if tables.own else None
    layout = read_layout(debug, tables.exports, options, target=target, soname=soname, alternate=None)
    debug.file.check_unchanged()
    return msgspec.structs.replace(
        layout,
        evidence=msgspec.structs.replace(layout.evidence, source=search.source),
        debug_files=() if debug is macho else (debug.path.name,),
    )
