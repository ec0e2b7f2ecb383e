"""The PE reader: the tables of a Windows DLL, and the debug information that belongs to it.

MinGW writes the class tables of the Itanium C++ ABI. Visual C++ exports vtables alone: the word before one leads to the
type information, which lists the bases.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path, PureWindowsPath
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.class_tables import Image, Table, TableReader, Word, is_table, names_at
from abistore.extract.files import Exports, InputFile
from abistore.extract.pe.container import (
    CLR,
    MAGIC,
    RESOURCES,
    PdbLink,
    PeFile,
    build_id,
    find_debug,
    pdb_link,
    protections,
    weaknesses,
)
from abistore.extract.pe.pdb_container import PdbContainer, malformed_is_an_error
from abistore.extract.pe.symbols import (
    ImportedDll,
    PeExport,
    bound_places,
    index_exports,
    is_arm64,
    is_machine,
    is_thumb,
    read_exports,
    read_imports,
    shapes,
    subsystem_name,
    target_of,
)
from abistore.extract.reader import (
    DebugSearch,
    ExtractOptions,
    FacetReading,
    first_found,
    identified,
    join,
    symbol_facet,
    unread,
)
from abistore.extract.types import is_runtime
from abistore.files import is_file
from abistore.limits import allow_more
from abistore.model.declarations import SELF, Name, by_name
from abistore.model.shapes import AnyShape, Library, PeLibrary, PeSymbol, Symbol
from abistore.model.snapshot import Evidence, Snapshot, Target, Variants, sort_variants
from abistore.model.words import DESCRIPTOR, VFTABLE

BASE_RELOCATIONS: Final = 5
_BLOCK: Final = struct.Struct("<II")
_WORD, _LONG_WORD = 3, 10


class Relocations:
    """The places that hold addresses. Rows are decoded for the pages that are asked for."""

    def __init__(self, pe: PeFile) -> None:
        self._pe = pe
        self._kind = _LONG_WORD if pe.bits == 64 else _WORD
        self._blocks: dict[int, list[bytes]] = {}
        for page, rows in _blocks(pe):
            self._blocks.setdefault(page, []).append(rows)
        self._decoded: dict[int, frozenset[int]] = {}

    def target(self, address: int) -> int | None:
        """The address, relative to the image base, that stands at ``address``; ``None`` where no address stands."""
        page = address & ~0xFFF
        if page not in self._decoded:
            self._decoded[page] = frozenset(self._places(page))
        if address not in self._decoded[page]:
            return None
        width = self._pe.bits // 8
        try:
            return int.from_bytes(self._pe.at_address(address, width), "little") - self._pe.image_base
        except ExtractError:
            return None

    def _places(self, page: int) -> Iterator[int]:
        for rows in self._blocks.get(page, ()):
            for (row,) in struct.iter_unpack("<H", rows):
                if row >> 12 == self._kind:
                    yield page + (row & 0xFFF)


def _blocks(pe: PeFile) -> Iterator[tuple[int, bytes]]:
    """The page of each block and its rows; none where the table is not all there."""
    start, size = pe.directory(BASE_RELOCATIONS)
    try:
        data = pe.at_address(start, size) if start and size else b""
    except ExtractError:
        return
    at = 0
    while at + _BLOCK.size <= len(data):
        page, length = _BLOCK.unpack_from(data, at)
        if length < _BLOCK.size:
            return
        rows = data[at + _BLOCK.size : at + length]
        yield page, rows[: len(rows) & ~1]
        at += length


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


INFORMATION, MODULES = 1, 3
PdbSearch: TypeAlias = "DebugSearch[PdbContainer]"

_HINT = "put the PDB file next to the DLL, or pass it with --pdb or its folder with --debug-dir"


def find_pdb(path: Path, link: PdbLink, options: ExtractOptions) -> PdbSearch:
    """The PDB file of the DLL at ``path``: named by the caller, beside the DLL, in a folder, or where it was linked."""
    searches = (_examine(candidate, source, link) for candidate, source in _candidates(path, link, options))
    detail = f"its debug information is in {PureWindowsPath(link.path).name}"
    return first_found(searches, DebugSearch(None, "", "debug-file-missing", detail, _HINT))


def _candidates(path: Path, link: PdbLink, options: ExtractOptions) -> Iterator[tuple[Path | InputFile, str]]:
    name, given = PureWindowsPath(link.path).name, options.debug_dirs
    for file in options.debug_files:
        if file.path.name.lower() == name.lower():
            yield file, "debug-package"
    places = [(each, "debug-dir") for each in given if is_file(each)]
    places += [(path.absolute().parent / name, "beside")] if name else []
    for folder in given:
        places += [(folder / name, "debug-dir"), (folder / name / link.identity.upper() / name, "debug-dir")]
    if link.path.startswith("/"):
        places.append((Path(link.path), "linked"))
    seen = set[Path]()
    for place, source in places:
        if place not in seen and is_file(place):
            seen.add(place)
            yield place, source


def _examine(found_at: Path | InputFile, source: str, link: PdbLink) -> PdbSearch:
    """The candidate, if it has the identity and age that the DLL asks for; else why it is refused."""
    path = found_at.path if isinstance(found_at, InputFile) else found_at
    try:
        with malformed_is_an_error(path.name):
            container = PdbContainer(found_at if isinstance(found_at, InputFile) else InputFile(path))
            _, _, age, guid = struct.unpack_from("<III16s", container.stream(INFORMATION))
            modules = container.stream(MODULES)
            linked = struct.unpack_from("<I", modules, 8)[0] if modules else age
    except LimitExceeded:
        raise
    except InputError as error:
        return DebugSearch(None, source, "unreadable-debug-file", f"{path.name}: {error.message}", "build it again")
    if guid != link.guid or link.age not in (age, linked):
        detail = f"{path.name}: belongs to another build than the DLL"
        return DebugSearch(None, source, "stale-debug-file", detail, "pass the PDB file from the same link")
    return DebugSearch(container, source)


VERSION: Final = 16
"""The type of version resources (``RT_VERSION``)."""

_SIGNATURE: Final = struct.pack("<I", 0xFEEF04BD)
_MOST_ENTRIES: Final = 1 << 12
_FIXED: Final = struct.Struct("<16xHHHH")


def product_version(pe: PeFile) -> str | None:
    """``3.1.0.0``: the product's version as numbers, or ``None`` where the file does not tell."""
    start, size = pe.directory(RESOURCES)
    if not start or not size:
        return None
    try:
        resource = _leaf(pe, start)
        found = resource.find(_SIGNATURE)
        if found < 0 or found + _FIXED.size > len(resource):
            return None
        minor, major, build, patch = _FIXED.unpack_from(resource, found)
    except ExtractError:
        return None  # no part of the ABI: what is damaged there need not stop the reading
    numbers = (major, minor, patch, build)
    return ".".join(map(str, numbers)) if any(numbers) else None


def _leaf(pe: PeFile, start: int) -> bytes:
    """The first version resource: the tree has a level for types, one for names, and one for languages."""
    place, wanted = 0, VERSION
    for _ in range(3):
        following = _entry(pe, start + place, wanted)
        if following is None:
            return b""
        place, wanted = following & 0x7FFFFFFF, -1
        if not following >> 31:
            address, size = struct.unpack("<II", pe.at_address(start + place, 8))
            return pe.at_address(address, min(size, 1 << 12))
    return b""


def _entry(pe: PeFile, address: int, wanted: int) -> int | None:
    """Where the entry ``wanted`` of a directory leads, or its first entry (-1)."""
    names, numbers = struct.unpack("<HH", pe.at_address(address + 12, 4))
    count = min(names + numbers, _MOST_ENTRIES)
    for key, target in struct.iter_unpack("<II", pe.at_address(address + 16, 8 * count)):
        if wanted in (-1, key):
            return int(target)
    return None


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
        from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

        exports, source = tables.exports, search.source
        return read_layout(pe, search.file, exports, options, target=target, soname=tables.dll, source=source)
    if link is not None and link.path:
        if options.programs:
            return FacetReading(Evidence("layout", "missing", "types-not-read", "PDB files of programs are not read"))
        return _pdb(pe, link, tables, options, target)
    return search.nothing(len(tables.exports.kinds))


def _pdb(pe: PeFile, link: PdbLink, tables: DllTables, options: ExtractOptions, target: Target) -> FacetReading:

    search = find_pdb(pe.path, link, options)
    if search.file is None:
        return search.nothing(len(tables.exports.kinds))
    container, file = search.file, search.file.file
    allow_more(file.size)
    from abistore.extract.pe.pdb_layout import read_layout

    sections = [pe.image_base + each.address for each in pe.sections]
    with malformed_is_an_error(file.path.name):
        layout = read_layout(container, tables.exports, sections, target, is_runtime(tables.dll))
    file.check_unchanged()
    evidence = msgspec.structs.replace(layout.evidence, source=search.source)
    return msgspec.structs.replace(layout, evidence=evidence, debug_files=(file.path.name,))
