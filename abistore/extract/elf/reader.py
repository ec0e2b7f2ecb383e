"""The ELF reader: a shared object's tables and its debug information, joined into one snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

import abistore
from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.debuginfo import DebugSearch, find_alternate, find_debug, without_alternate
from abistore.extract.elf.container import MAGIC, ElfFile
from abistore.extract.elf.dynamic import (
    DF_1_PIE,
    DT_NEEDED,
    DT_RPATH,
    DT_RUNPATH,
    DT_SONAME,
    Dynamic,
    features,
)
from abistore.extract.elf.hardening import needed_processor, read_hardening
from abistore.extract.elf.linker_script import MOST_BYTES, find_library, is_linker_script
from abistore.extract.elf.machines import target_of
from abistore.extract.elf.symbols import Exports, exported, imported, index_exports, read_rows
from abistore.extract.elf.versions import Versions, read_versions
from abistore.extract.reader import HEAD_BYTES, ExtractOptions
from abistore.extract.regular import read_head
from abistore.limits import BYTES, SECONDS, limits, limits_for
from abistore.model.digest import sort_variants
from abistore.model.names import SELF, Facet, Name, by_name
from abistore.model.shapes import AnyShape, Library
from abistore.model.snapshot import Evidence, Provenance, Snapshot, Variants
from abistore.model.sonames import library_name

if TYPE_CHECKING:
    from abistore.extract.dwarf.layout import Layout

ARCHIVES = (b"!<arch>\n", b"!<thin>\n")
ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_INTERP = 3


def accepts(head: bytes) -> bool:
    """Whether ``head`` begins an ELF file, or an archive or linker script that stands where one is expected."""
    return head.startswith((MAGIC, *ARCHIVES)) or is_linker_script(head)


def read(path: Path, options: ExtractOptions) -> Snapshot:
    """The snapshot of the shared library at ``path``, or of the one that a linker script there names.

    Raises :class:`abistore.errors.InputError`, of the kind that tells what is wrong with the file.
    """
    with limits(SECONDS, BYTES, _reading(path)):
        elf = open_library(path, options.max_bytes)
    snapshot = _read(elf, options)
    with limits_for(
        elf.size, _reading(path)
    ):  # last: OpenSSL is loaded into memory that the debug information needs before
        provenance = msgspec.structs.replace(snapshot.provenance, sha256=elf.sha256())
    return msgspec.structs.replace(snapshot, provenance=provenance)


def _reading(path: Path) -> str:
    return f"reading {path.name}"


def _read(elf: ElfFile, options: ExtractOptions) -> Snapshot:
    with limits_for(elf.size, _reading(elf.path)):
        tables = read_tables(elf)
        snapshot = _snapshot(elf, tables, options)
        if not options.layout:
            return snapshot
        search = find_debug(elf, options)
        alternate = find_alternate(search.file, options) if search.file else None
        if search.file and search.file.alternate_link and alternate is None:
            search = without_alternate(search)
    if search.file is None:
        return _without_layout(snapshot, search, len(tables.exports.kinds))
    debug_files = (search.file,) if alternate is None else (search.file, alternate)
    with limits_for(sum(file.size for file in debug_files), _reading(search.file.path)):
        from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

        layout = read_layout(search.file, tables.exports, options, soname=tables.soname, alternate=alternate)
    return _with_layout(snapshot, layout, search, tuple(file.path.name for file in debug_files if file is not elf))


# --- the file -----------------------------------------------------------------------------------------------------


def open_library(path: Path, max_bytes: int) -> ElfFile:
    """The ELF file that ``path`` stands for: itself, or what linker scripts lead to.

    Raises :class:`UnknownFormat` for anything else, :class:`ExtractError` for an archive, an object file or a core.
    """
    seen: set[Path] = set()
    while True:
        head = read_head(path, HEAD_BYTES)
        if head.startswith(ARCHIVES):
            raise ExtractError(
                f"{path}: is a static archive", "pass the shared library; archives have no link-time ABI"
            )
        if head.startswith(MAGIC) or not head:
            break
        if not is_linker_script(head) or path in seen:
            raise UnknownFormat(f"{path}: not an ELF file", "abistore reads ELF shared libraries")
        seen.add(path)
        path = find_library(path, read_head(path, MOST_BYTES).decode("utf-8", "replace"))
    elf = ElfFile(path, max_bytes)
    if elf.type == ET_REL:
        raise ExtractError(f"{path}: is a relocatable object file", "link it into a shared library first")
    if elf.type == ET_CORE:
        raise ExtractError(f"{path}: is a core dump", "pass the shared library")
    if elf.type not in (ET_EXEC, ET_DYN):
        raise ExtractError(f"{path}: is an ELF file of the unknown type {elf.type}")
    return elf


# --- the tables ---------------------------------------------------------------------------------------------------


class Tables(msgspec.Struct):
    """What the binary's own tables say: the symbol facet, the address index, the SONAME."""

    entries: dict[Name, Variants]
    exports: Exports
    soname: str | None


def read_tables(elf: ElfFile) -> Tables:
    """The symbol facet of ``elf``. Raises :class:`ExtractError` where it exports nothing that one could link to."""
    dynamic = Dynamic.of(elf)
    if dynamic is None:
        raise ExtractError(f"{elf.path}: is statically linked and exports nothing", "pass a shared library")
    versions = read_versions(dynamic)
    rows = list(read_rows(dynamic))
    found = list(exported(dynamic, rows, versions))
    file_kind = _file_kind(elf, dynamic, bool(found))
    if file_kind == "executable" and not found:
        raise ExtractError(f"{elf.path}: is an executable without exports", "pass a shared library")
    gathered: dict[Name, list[AnyShape]] = {}
    for _, name, symbol in found:
        gathered.setdefault(name, []).append(symbol)
    imports = list(imported(rows, versions))
    for name, shape in imports:
        gathered.setdefault(name, []).append(shape)
    entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
    entries[SELF] = (_library(dynamic, versions, file_kind, {name.spelling for name, _ in imports}),)
    return Tables(entries, index_exports(dynamic, found), dynamic.text(DT_SONAME))


def _file_kind(elf: ElfFile, dynamic: Dynamic, exports: bool) -> Literal["shared", "executable"]:
    """A position-independent executable has an interpreter; libraries that can be run as well have a SONAME too."""
    if elf.type == ET_EXEC:
        return "executable"
    pie = bool(dynamic.flags_1 & DF_1_PIE)
    if any(segment.type == PT_INTERP for segment in elf.segments):
        return "executable" if pie or dynamic.text(DT_SONAME) is None else "shared"
    return "executable" if pie and not exports else "shared"


def _library(
    dynamic: Dynamic, versions: Versions, file_kind: Literal["shared", "executable"], imports: set[str]
) -> Library:
    return Library(
        file_kind=file_kind,
        soname=dynamic.text(DT_SONAME),
        needed=dynamic.texts(DT_NEEDED),
        rpath=_search_path(dynamic.text(DT_RPATH)),
        runpath=_search_path(dynamic.text(DT_RUNPATH)),
        version_definitions=tuple(sorted(set(versions.defined.values()))),
        version_requirements=tuple(sorted({(library, version) for library, version in versions.required.values()})),
        hardening=read_hardening(dynamic, imports),
        features=tuple(sorted((*features(dynamic), *needed_processor(dynamic.elf)))),
    )


def _search_path(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(":")) if text else ()


# --- the snapshot -------------------------------------------------------------------------------------------------


def _snapshot(elf: ElfFile, tables: Tables, options: ExtractOptions) -> Snapshot:
    count = len(tables.exports.kinds)
    return Snapshot(
        library=options.library or library_name(Path(tables.soname or elf.path.name).name),
        version=options.version,
        target=target_of(elf),
        entries={"symbol": tables.entries},
        evidence=(Evidence("symbol", "full", source="file", described=count, expected=count),),
        provenance=Provenance(
            file=elf.path.name,
            size=elf.size,
            build_id=elf.build_id,
            reader="elf",
            abistore=abistore.__version__,
        ),
    )


def _without_layout(snapshot: Snapshot, search: DebugSearch, expected: int) -> Snapshot:
    missing = Evidence("layout", "missing", search.reason, search.detail, search.hint, search.source, 0, expected)
    return msgspec.structs.replace(snapshot, evidence=(*snapshot.evidence, missing))


def _with_layout(snapshot: Snapshot, layout: Layout, search: DebugSearch, debug_files: tuple[str, ...]) -> Snapshot:
    entries: dict[Facet, Mapping[Name, Variants]] = dict(snapshot.entries)
    if layout.evidence.state != "missing":
        entries["layout"] = layout.entries
    provenance = msgspec.structs.replace(
        snapshot.provenance, compilers=layout.compilers, languages=layout.languages, debug_files=debug_files
    )
    return msgspec.structs.replace(
        snapshot,
        entries=entries,
        evidence=(*snapshot.evidence, msgspec.structs.replace(layout.evidence, source=search.source)),
        locations=layout.locations,
        provenance=provenance,
    )
