"""The PE reader: the tables of a Windows DLL, and the debug information that belongs to it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from abistore.errors import ExtractError
from abistore.extract.exports import Exports
from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.input_file import InputFile
from abistore.extract.pe.class_tables import filled
from abistore.extract.pe.container import CLR, MAGIC, PeFile
from abistore.extract.pe.debug_files import DwarfSearch, PdbLink, build_id, find_debug, pdb_link
from abistore.extract.pe.exports import index_exports, read_exports
from abistore.extract.pe.hardening import protections, weaknesses
from abistore.extract.pe.imports import ImportedDll, read_imports, shapes
from abistore.extract.pe.machines import is_machine, subsystem_name, target_of
from abistore.extract.pe.version_resource import product_version
from abistore.extract.reader import ExtractOptions, identified
from abistore.extract.types.foreign import is_runtime
from abistore.limits import allow_more
from abistore.model.digest import sort_variants
from abistore.model.names import SELF, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants
from abistore.model.tables import Library, PeLibrary

IMAGE_FILE_DLL = 0x2000
_OBJECT = struct.Struct("<HH12xH")


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins a program of DOS or Windows, or an object file of the latter."""
    return head.startswith(MAGIC) or _is_object(head)


def _is_object(head: bytes) -> bool:
    """Object files have no magic: they begin with the machine, and have no optional header."""
    if len(head) < 20:
        return False
    machine, sections, optional = _OBJECT.unpack_from(head)
    return is_machine(machine) and 0 < sections < 1 << 15 and not optional


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the DLL in ``file``. Raises :class:`abistore.errors.InputError` and its kinds."""
    if not file.head.startswith(MAGIC):
        raise ExtractError(f"{file.path}: is a COFF object file", "link it into a DLL first")
    pe = PeFile(file, options.max_bytes)
    tables = read_tables(pe, programs=options.programs)
    binary = unread(
        file,
        options,
        tables.dll,
        target_of(pe.machine, pe.bits),
        reader="pe",
        build_id=build_id(pe),
        product_version=product_version(pe),
    )
    readings = [symbol_facet(tables.entries, len(tables.exports.kinds))]
    if options.layout:
        readings.append(_layout(pe, tables, options, binary.target))
    yield identified(join(binary, readings), file, options)


# --- the tables ---------------------------------------------------------------------------------------------------


class DllTables(msgspec.Struct):
    """What the DLL's own tables say: the symbol facet, the address index, the DLL's name for itself."""

    entries: dict[Name, Variants]
    exports: Exports
    dll: str | None


def read_tables(pe: PeFile, *, programs: bool = False) -> DllTables:
    """The symbol facet of ``pe``. Raises :class:`ExtractError` where it exports nothing that one could link to.

    ``programs`` may do so.
    """
    directory = read_exports(pe)
    is_dll = bool(pe.flags & IMAGE_FILE_DLL)
    if not directory.exports and pe.directory(CLR)[0]:
        raise ExtractError(f"{pe.path}: is a .NET assembly without native exports", "pass a native DLL")
    if not directory.exports and not is_dll and not programs:
        raise ExtractError(f"{pe.path}: is an executable without exports", "pass a DLL")
    gathered: dict[Name, list[AnyShape]] = {}
    for _, name, symbol in filled(pe, list(directory.symbols())):
        gathered.setdefault(name, []).append(symbol)
    dlls = read_imports(pe)
    for name, imported in shapes(dlls):
        gathered.setdefault(name, []).append(imported)
    entries = {name: sort_variants(found) for name, found in sorted(gathered.items(), key=by_name)}
    entries[SELF] = (_library(pe, directory.dll, dlls, is_dll),)
    return DllTables(entries, index_exports(pe, directory), directory.dll)


def _library(pe: PeFile, dll: str | None, dlls: tuple[ImportedDll, ...], is_dll: bool) -> Library:
    ordinary = {each.name for each in dlls if not each.delayed}
    return Library(
        file_kind="shared" if is_dll else "executable",
        name=dll.lower() if dll else None,
        needed=tuple(dict.fromkeys(each.name for each in dlls)),
        protections=tuple(sorted(protections(pe))),
        weaknesses=tuple(sorted(weaknesses(pe))),
        pe=PeLibrary(
            subsystem_name(pe.subsystem),
            ".".join(map(str, pe.system_version)),
            tuple(sorted({each.name for each in dlls if each.delayed} - ordinary)),
        ),
    )


# --- the facets ---------------------------------------------------------------------------------------------------


def _layout(pe: PeFile, tables: DllTables, options: ExtractOptions, target: Target) -> FacetReading:
    """What the debug information says, DWARF or PDB; where there is none, why."""
    search = find_debug(pe, options)
    link = pdb_link(pe)
    if search.file is not None:
        return _dwarf(pe, search, tables, options, target)
    if link is not None and link.path:
        if options.programs:
            return FacetReading(Evidence("layout", "missing", "types-not-read", "of a program, PDB files are not read"))
        return _pdb(pe, link, tables, options, target)
    return search.nothing(len(tables.exports.kinds))


def _dwarf(pe: PeFile, search: DwarfSearch, tables: DllTables, options: ExtractOptions, target: Target) -> FacetReading:
    assert search.file is not None
    allow_more(search.file.size)
    from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

    layout = read_layout(search.file, tables.exports, options, target=target, soname=tables.dll, alternate=None)
    search.file.file.check_unchanged()
    return msgspec.structs.replace(
        layout,
        evidence=msgspec.structs.replace(layout.evidence, source=search.source),
        debug_files=(search.file.path.name,) if search.file is not pe else (),
    )


def _pdb(pe: PeFile, link: PdbLink, tables: DllTables, options: ExtractOptions, target: Target) -> FacetReading:
    from abistore.extract.pe.pdb_files import find_pdb  # DLLs of MinGW have none

    search = find_pdb(pe.path, link, options)
    if search.file is None:
        return search.nothing(len(tables.exports.kinds))
    container, file = search.file, search.file.file
    allow_more(file.size)
    from abistore.extract.pdb.faults import malformed_is_an_error
    from abistore.extract.pdb.layout import read_layout

    sections = [pe.image_base + each.address for each in pe.sections]
    with malformed_is_an_error(file.path.name):
        layout = read_layout(container, tables.exports, sections, target, is_runtime(tables.dll))
    file.check_unchanged()
    evidence = msgspec.structs.replace(layout.evidence, source=search.source)
    return msgspec.structs.replace(layout, evidence=evidence, debug_files=(file.path.name,))
