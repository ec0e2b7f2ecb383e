"""The ELF reader: the tables of a shared object, and the debug information that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.archives import ARCHIVES, refusal
from abistore.extract.elf.container import MAGIC, ElfFile
from abistore.extract.elf.debug_files import find_alternate, find_debug, without_alternate
from abistore.extract.elf.dynamic import DF_1_PIE, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DynamicSection, features
from abistore.extract.elf.hardening import needed_processor, protections, weaknesses
from abistore.extract.elf.loading import refusals
from abistore.extract.elf.lookup import Lookup, looked_up
from abistore.extract.elf.machines import COPYING, target_of
from abistore.extract.elf.symbols import (
    DynamicSymbol,
    copied_imports,
    exported,
    imported,
    index_exports,
    read_rows,
    told_apart,
)
from abistore.extract.elf.versions import FIRST_VERSION, SymbolVersions, read_versions
from abistore.extract.exports import Exports
from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions, identified
from abistore.limits import allow_more
from abistore.model.digest import sort_variants
from abistore.model.mangling.symbols import MANGLED
from abistore.model.names import SELF, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot, Target, Variants
from abistore.model.tables import ElfLibrary, Library

if TYPE_CHECKING:
    from abistore.extract.elf.class_tables import ClassTables

DEBIAN_PACKAGE = b"!<arch>\ndebian-binary"
"""An archive of this kind is no library: another reader looks into it."""

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_INTERP = 3


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins an ELF file, or an archive or linker script that stands where one is expected."""
    if head.startswith((MAGIC, *ARCHIVES)):
        return not head.startswith(DEBIAN_PACKAGE)
    from abistore.extract.elf.linker_script import is_linker_script  # few libraries are scripts

    return is_linker_script(head)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the shared library in ``file``, or of the one that a linker script there names.

    Raises :class:`abistore.errors.InputError`, of the kind that tells what is wrong with the file.
    """
    elf = open_library(file, options.max_bytes)
    tables = read_tables(elf, programs=options.programs)
    binary = unread(elf.file, options, tables.soname, target_of(elf), reader="elf", build_id=elf.build_id)
    symbols = symbol_facet(tables.entries, tables.exports.symbols)
    readings = [msgspec.structs.replace(symbols, evidence=tables.lookup.evidence(symbols.evidence))]
    if options.layout:
        readings.append(_layout(elf, tables, options, binary.target))
    yield identified(join(binary, readings), elf.file, options)


# --- the file -----------------------------------------------------------------------------------------------------


def open_library(file: InputFile, max_bytes: int) -> ElfFile:
    """The ELF file that ``file`` stands for: itself, or what linker scripts lead to.

    Raises :class:`UnknownFormat` for anything else, :class:`ExtractError` for an archive, an object file or a core.
    """
    if not file.head.startswith(MAGIC):
        script, file = file, _named_library(file)
        script.named = file
        allow_more(file.size)
    path, elf = file.path, ElfFile(file, max_bytes)
    if elf.type == ET_REL:
        raise ExtractError(f"{path}: is a relocatable object file", "link it into a shared library first")
    if elf.type == ET_CORE:
        raise ExtractError(f"{path}: is a core dump", "pass the shared library")
    if elf.type not in (ET_EXEC, ET_DYN):
        raise ExtractError(f"{path}: is an ELF file of the unknown type {elf.type}")
    return elf


def _named_library(script: InputFile) -> InputFile:
    """The ELF file that a linker script leads to."""
    from abistore.extract.elf.linker_script import MOST_BYTES, find_library, is_linker_script  # few are scripts

    file, seen = script, set[Path]()
    while not file.head.startswith(MAGIC):
        path = file.path
        if file.head.startswith(ARCHIVES):
            raise refusal(file)
        if not is_linker_script(file.head) or path in seen:
            raise UnknownFormat(f"{path}: not an ELF file")
        seen.add(path)
        text = file.read_at(0, min(MOST_BYTES, file.size)).decode("utf-8", "replace")
        file = InputFile(find_library(path, text))
    return file


# --- the tables ---------------------------------------------------------------------------------------------------


class SymbolTables(msgspec.Struct):
    """What the binary's own tables say: the symbol facet, the address index, the SONAME."""

    entries: dict[Name, Variants]
    exports: Exports
    soname: str | None
    lookup: Lookup


def read_tables(elf: ElfFile, *, programs: bool = False) -> SymbolTables:
    """The symbol facet of ``elf``. Raises :class:`ExtractError` where it exports nothing that one could link to.

    ``programs`` may do so.
    """
    dynamic = DynamicSection.of(elf)
    if dynamic is None:
        raise ExtractError(f"{elf.path}: is statically linked and exports nothing", "pass a shared library")
    versions = read_versions(dynamic)
    rows = list(read_rows(dynamic))
    lookup = looked_up(dynamic, list(exported(dynamic, rows, versions)), versions)
    found = lookup.found
    has_classes = any(name.spelling.startswith(MANGLED) for _, name, _ in found)
    relocated = _class_tables(dynamic, rows) if has_classes or programs else None
    if relocated is not None:
        found = relocated.marked(relocated.filled(found))
    found = told_apart(found)
    file_kind = _file_kind(elf, dynamic, bool(found))
    if file_kind == "executable" and not found and not programs:
        raise ExtractError(f"{elf.path}: is an executable without exports", "pass a shared library")
    gathered: dict[Name, list[AnyShape]] = {}
    for _, name, symbol in found:
        gathered.setdefault(name, []).append(symbol)
    imports = list(imported(rows, versions))
    if programs and relocated is not None:
        imports += copied_imports(rows, versions, relocated.copied(COPYING.get(elf.machine, 0)))
    for name, shape in imports:
        gathered.setdefault(name, []).append(shape)
    entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
    exports = index_exports(dynamic, found)
    chosen = any(not symbol.default for _, _, symbol in found)
    first_version = versions.defined.get(FIRST_VERSION, "") if chosen else ""
    imported_names = {name.spelling for name, _ in imports}
    entries[SELF] = (_library(dynamic, versions, file_kind, imported_names, first_version),)
    return SymbolTables(entries, exports, dynamic.text(DT_SONAME), lookup)


def _class_tables(dynamic: DynamicSection, rows: Sequence[DynamicSymbol]) -> ClassTables:
    from abistore.extract.elf.class_tables import ClassTables  # C has no classes

    return ClassTables(dynamic, rows)


def _file_kind(elf: ElfFile, dynamic: DynamicSection, exports: bool) -> Literal["shared", "executable"]:
    """A position-independent executable has an interpreter; libraries that can be run as well have a SONAME too."""
    if elf.type == ET_EXEC:
        return "executable"
    pie = bool(dynamic.flags_1 & DF_1_PIE)
    if any(segment.type == PT_INTERP for segment in elf.segments):
        return "executable" if pie or dynamic.text(DT_SONAME) is None else "shared"
    return "executable" if pie and not exports else "shared"


def _library(
    dynamic: DynamicSection,
    versions: SymbolVersions,
    file_kind: Literal["shared", "executable"],
    imports: set[str],
    first_version: str,
) -> Library:
    elf = ElfLibrary(
        rpath=_search_path(dynamic.text(DT_RPATH)),
        version_definitions=tuple(sorted(set(versions.defined.values()))),
        version_requirements=tuple(sorted({(needed.library, needed.version) for needed in versions.required.values()})),
        first_version=first_version,
        refusals=tuple(sorted(refusals(dynamic))),
    )
    return Library(
        file_kind=file_kind,
        name=dynamic.text(DT_SONAME),
        needed=dynamic.texts(DT_NEEDED),
        search_paths=_search_path(dynamic.text(DT_RUNPATH)),
        protections=tuple(sorted(protections(dynamic, imports))),
        weaknesses=tuple(sorted(weaknesses(dynamic))),
        features=tuple(sorted((*features(dynamic), *needed_processor(dynamic.elf)))),
        elf=elf if elf != ElfLibrary() else None,
    )


def _search_path(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(":")) if text else ()


# --- the facets ---------------------------------------------------------------------------------------------------


def _layout(elf: ElfFile, tables: SymbolTables, options: ExtractOptions, target: Target) -> FacetReading:
    """What the debug information says; where there is none, why."""
    search = find_debug(elf, options)
    alternate = find_alternate(search.file, options) if search.file else None
    if search.file and search.file.alternate_link and alternate is None:
        search = without_alternate(search)
    if search.file is None:
        return search.nothing(len(tables.exports.kinds))
    files = (search.file,) if alternate is None else (search.file, alternate)
    allow_more(sum(file.size for file in files))
    from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

    layout = read_layout(
        search.file,
        tables.exports,
        options,
        target=target,
        soname=tables.soname,
        alternate=alternate,
    )
    for each in files:
        each.file.check_unchanged()
    return msgspec.structs.replace(
        layout,
        evidence=msgspec.structs.replace(layout.evidence, source=search.source),
        debug_files=tuple(each.path.name for each in files if each is not elf),
    )
