"""The Mach-O reader: each architecture of a dylib, bundle or executable, and its debug information.

Old files list what dyld writes into them as opcodes, new ones as chains through the words themselves
(``mach-o/fixup-chains.h``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import ExtractError, InputError, LimitExceeded
from abistore.extract.class_tables import Image, TableReader, is_table, names_at, pages_of
from abistore.extract.files import Exports, InputFile
from abistore.extract.macho.container import (
    LC_CODE_SIGNATURE,
    LC_DYLD_INFO,
    LC_DYLD_INFO_ONLY,
    MH_ALLOW_STACK_EXECUTION,
    MH_APP_EXTENSION_SAFE,
    MH_BUNDLE,
    MH_CORE,
    MH_DSYM,
    MH_DYLIB,
    MH_DYLIB_STUB,
    MH_EXECUTE,
    MH_NO_HEAP_EXECUTION,
    MH_OBJECT,
    MH_PIE,
    MH_TWOLEVEL,
    N_OSO,
    N_SECT,
    N_STAB,
    N_TYPE,
    VM_PROT_EXECUTE,
    VM_PROT_WRITE,
    Dylib,
    MachOFile,
    MachoSegment,
    clients,
    dependencies,
    is_macho,
    own_name,
    parts_of,
    platform_of,
    search_paths,
    target_of,
)
from abistore.extract.macho.symbols import (
    CODE,
    DIRECTIVE,
    IMMEDIATE,
    OPCODE,
    MachoExport,
    Malformed,
    NameBudget,
    SectionMap,
    SymbolRow,
    chained_imports,
    exported,
    imported,
    index_exports,
    listed_exports,
    plain_name,
    read_rows,
    signed,
    text,
    unsigned,
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
from abistore.files import is_file
from abistore.model.declarations import SELF, Name, by_name
from abistore.model.shapes import AnyShape, Library, MachoLibrary, MachoSymbol
from abistore.model.snapshot import Snapshot, Target, Variants, sort_variants
from abistore.model.words import (
    CODE_SIGNATURE,
    EXECUTABLE_STACK,
    FORTIFY,
    HARDENED_RUNTIME,
    LIBRARY_VALIDATION,
    NO_HEAP_EXECUTION,
    POSITION_INDEPENDENT,
    STACK_CANARY,
    WRITABLE_CODE,
)

_CANARY = frozenset({"__stack_chk_fail", "__stack_chk_guard"})
_FORTIFIED = re.compile(r"__(?!stack_)\w+_chk")

_SUPER_BLOB, _CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
_IS_SIGNED = ((0x10000, HARDENED_RUNTIME), (0x2000, LIBRARY_VALIDATION))
"""``CS_RUNTIME`` and ``CS_REQUIRE_LV`` of ``cs_blobs.h``."""


def protections(macho: MachOFile, imports: Collection[str]) -> Iterator[str]:
    """What protects a process; canary and FORTIFY show as imports of the functions that they call."""
    if not _CANARY.isdisjoint(imports):
        yield STACK_CANARY
    if any(_FORTIFIED.fullmatch(name) for name in imports):
        yield FORTIFY
    if macho.flags & MH_NO_HEAP_EXECUTION:
        yield NO_HEAP_EXECUTION
    if macho.flags & MH_PIE and macho.type == MH_EXECUTE:
        yield POSITION_INDEPENDENT
    yield from _signature(macho)


def weaknesses(macho: MachOFile) -> Iterator[str]:
    """What makes a process easier to attack."""
    if macho.flags & MH_ALLOW_STACK_EXECUTION and macho.type == MH_EXECUTE:
        yield EXECUTABLE_STACK
    if any(each.protection & (both := VM_PROT_WRITE | VM_PROT_EXECUTE) == both for each in macho.segments):
        yield WRITABLE_CODE


def _signature(macho: MachOFile) -> Iterator[str]:
    """What the code directory says. The numbers of a signature are big-endian on every machine."""
    command = macho.first(LC_CODE_SIGNATURE)
    if command is None:
        return
    offset, size = macho.unpacked(command, "II")
    data = macho.read_at(offset, size)
    yield CODE_SIGNATURE
    if len(data) < 12 or struct.unpack_from(">I", data)[0] != _SUPER_BLOB:
        return
    count = min(struct.unpack_from(">I", data, 8)[0], (len(data) - 12) // 8)
    for _slot, place in struct.iter_unpack(">II", data[12 : 12 + 8 * count]):
        if place + 16 <= len(data) and struct.unpack_from(">I", data, place)[0] == _CODE_DIRECTORY:
            flags = struct.unpack_from(">I", data, place + 12)[0]
            yield from (word for bit, word in _IS_SIGNED if flags & bit)
            return


Fixups = Mapping[int, int | str]
"""What each place gets: an address of the file, or the symbol that is looked for."""

PAGE: Final = 1 << 12

MOST_FIXUPS: Final = 1 << 22
"""Places that are read of one file. The largest libraries have some hundred thousands."""

_SET_PLACE, _ADD, _ADD_SCALED = 0x20, 0x30, 0x40
_MANY, _MANY_LONG, _AND_ADD, _MANY_SKIPPING = 0x50, 0x60, 0x70, 0x80

_SYMBOL, _ADDEND, _BIND_PLACE, _BIND_ADD = 0x40, 0x60, 0x70, 0x80
_BIND, _BIND_AND_ADD, _BIND_SCALED, _BIND_MANY, _THREADED = 0x90, 0xA0, 0xB0, 0xC0, 0xD0
_LONG_ORDINAL: Final = 0x20

_HEADER: Final = struct.Struct("<7I")
_STARTS: Final = struct.Struct("<IHHQIH")
_COUNT: Final = struct.Struct("<I")

_SPECIAL: Final = 0x8000
"""Of the start of a page: it has no chain, or several."""


def fixups(macho: MachOFile, pages: Container[int]) -> Fixups:
    """What the words in ``pages`` get (addresses by :data:`PAGE`). Raises :class:`Malformed`."""
    if macho.chained is not None:
        offset, size = macho.unpacked(macho.chained, "II")
        found = dict(_chained(macho, macho.read_at(offset, size), pages))
        return {place: what for place, what in found.items() if place // PAGE in pages}
    command = macho.first(LC_DYLD_INFO_ONLY, LC_DYLD_INFO)
    if command is None:
        return {}
    tables = macho.unpacked(command, "10I")
    rebased = _rebased(macho, macho.read_at(*tables[0:2]))
    found = {place: stored(macho, place) for place in rebased if place // PAGE in pages}
    for start in (2, 4):  # bound symbols, then weak ones, which take the place of addresses
        bound = _bound(macho, macho.read_at(*tables[start : start + 2]))
        found |= {place: name for place, name in bound if name and place // PAGE in pages}
    return found


def stored(macho: MachOFile, address: int, width: int = 0) -> int:
    """The word in the file at ``address``, or a number of so many bytes; 0 where there is none."""
    width = width or macho.bits // 8
    for segment in macho.segments:
        offset = address - segment.address
        if 0 <= offset <= segment.file_size - width:
            return int.from_bytes(macho.read_at(segment.offset + offset, width), "little" if macho.little else "big")
    return 0


class _Steps:
    """Bounds how many places opcodes may name, however often they repeat one."""

    def __init__(self) -> None:
        self._left = MOST_FIXUPS

    def take(self, count: int) -> range:
        if not 0 <= count <= self._left:
            raise Malformed("dyld's opcodes name more places than a file has")
        self._left -= count
        return range(count)


def _start(macho: MachOFile, number: int) -> int:
    if number >= len(macho.segments):
        raise Malformed("dyld's opcodes name a segment that is not there")
    return macho.segments[number].address


def _rebased(macho: MachOFile, data: bytes) -> Iterator[int]:
    """The places that hold addresses of the file."""
    width, steps = macho.bits // 8, _Steps()
    at, address = 0, 0
    while at < len(data):
        opcode, low = data[at] & OPCODE, data[at] & IMMEDIATE
        at += 1
        count, stride = 0, width
        if opcode == _SET_PLACE:
            offset, at = unsigned(data, at)
            address = _start(macho, low) + offset
        elif opcode == _ADD:
            offset, at = unsigned(data, at)
            address += offset
        elif opcode == _ADD_SCALED:
            address += low * width
        elif opcode == _MANY:
            count = low
        elif opcode == _MANY_LONG:
            count, at = unsigned(data, at)
        elif opcode == _AND_ADD:
            offset, at = unsigned(data, at)
            count, stride = 1, width + offset
        elif opcode == _MANY_SKIPPING:
            count, at = unsigned(data, at)
            offset, at = unsigned(data, at)
            stride = width + offset
        yield from (address + number * stride for number in steps.take(count))
        address += count * stride


def _bound(macho: MachOFile, data: bytes) -> Iterator[tuple[int, str]]:
    """The places that get the addresses of symbols, and their names. Symbols at an offset have the name alone."""
    width, steps, budget = macho.bits // 8, _Steps(), NameBudget(len(data))
    at, address, name = 0, 0, ""
    while at < len(data):
        opcode, low = data[at] & OPCODE, data[at] & IMMEDIATE
        at += 1
        count, stride = 0, width
        if opcode == _LONG_ORDINAL:
            _, at = unsigned(data, at)
        elif opcode == _SYMBOL:
            raw, at = text(data, at)
            name = plain_name(budget.spend(raw))
        elif opcode == _ADDEND:
            _, at = signed(data, at)
        elif opcode == _BIND_PLACE:
            offset, at = unsigned(data, at)
            address = _start(macho, low) + offset
        elif opcode == _BIND_ADD:
            offset, at = unsigned(data, at)
            address = (address + offset) & (1 << 64) - 1
        elif opcode == _BIND:
            count = 1
        elif opcode == _BIND_AND_ADD:
            offset, at = unsigned(data, at)
            count, stride = 1, width + offset
        elif opcode == _BIND_SCALED:
            count, stride = 1, width * (low + 1)
        elif opcode == _BIND_MANY:
            count, at = unsigned(data, at)
            offset, at = unsigned(data, at)
            stride = width + offset
        elif opcode == _THREADED:
            return  # of prereleases for arm64e: chains of another form
        yield from (((address + number * stride) & (1 << 64) - 1, name) for number in steps.take(count))
        address = (address + count * stride) & (1 << 64) - 1


# --- chains -----------------------------------------------------------------------------------------------------------


class _Chains(msgspec.Struct, frozen=True):
    """The chains of one segment: where they begin, by page, and how their words are written."""

    segment: MachoSegment
    page: int
    form: int
    starts: tuple[int, ...]


def _chained(macho: MachOFile, data: bytes, pages: Container[int]) -> Iterator[tuple[int, int | str]]:
    """The words of the chains that reach into ``pages``."""
    names = [plain_name(each.name) for each in chained_imports(data, macho.max_bytes)]
    steps = _Steps()
    for chains in _chains(macho, data):
        contents = macho.read_at(chains.segment.offset, chains.segment.file_size)
        for number, first in enumerate(chains.starts):
            address = chains.segment.address + number * chains.page
            if first & _SPECIAL or not any(
                each // PAGE in pages for each in range(address, address + chains.page, PAGE)
            ):
                continue
            place = number * chains.page + first
            while place + 8 <= len(contents) and steps.take(1):
                word = int.from_bytes(contents[place : place + 8], "little")
                what, step = _decoded(word, chains.form, macho.base, names)
                yield chains.segment.address + place, what
                if not step:
                    break
                place += step


def _chains(macho: MachOFile, data: bytes) -> Iterator[_Chains]:
    """The chains of every segment that has any, of forms that are known."""
    starts = _unpacked(data, 0, _HEADER)[1]
    (count,) = _unpacked(data, starts, _COUNT)
    if count > len(macho.segments):
        raise Malformed("the chained fixups have more segments than the file")
    for segment, offset in zip(macho.segments, _unpacked(data, starts + 4, f"<{count}I"), strict=False):
        if offset:
            at = starts + offset
            _size, page, form, _offset, _maximum, pages = _unpacked(data, at, _STARTS)
            if form in _SIGNED or form in _UNSIGNED:
                yield _Chains(segment, page, form, _unpacked(data, at + _STARTS.size, f"<{pages}H"))


def _decoded(word: int, form: int, base: int, names: list[str]) -> tuple[int | str, int]:
    """What a word of a chain becomes, and how far it is to the next one: 0 at the end."""
    signs = form in _SIGNED
    step = (word >> 51 & 0x7FF) * 8 if signs else (word >> 51 & 0xFFF) * 4
    if word >> (62 if signs else 63) & 1:  # bound to a symbol
        ordinal = word & (0xFFFF if form in _SHORT_ORDINALS else 0xFFFFFF)
        return (names[ordinal] if ordinal < len(names) else ""), step
    if not signs:
        return (word & (1 << 36) - 1) + (base if form == _OFFSETS else 0), step
    is_signed = word >> 63
    target = word & ((1 << 32) - 1 if is_signed else (1 << 43) - 1)
    return target + (base if is_signed or form != _ARM64E else 0), step


_ARM64E, _ADDRESSES, _OFFSETS, _USERLAND, _USERLAND_24 = 1, 2, 6, 9, 12
_SIGNED: Final = frozenset({_ARM64E, _USERLAND, _USERLAND_24})
_UNSIGNED: Final = frozenset({_ADDRESSES, _OFFSETS})
_SHORT_ORDINALS: Final = frozenset({_ARM64E, _USERLAND})


def _unpacked(data: bytes, at: int, layout: struct.Struct | str) -> tuple[int, ...]:
    form = struct.Struct(layout) if isinstance(layout, str) else layout
    if at + form.size > len(data):
        raise Malformed("the chained fixups are cut off")
    return form.unpack_from(data, at)


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


_REFUSED = {
    MH_OBJECT: ("is a relocatable object file", "link it into a dylib first"),
    MH_CORE: ("is a core dump", "pass the dylib"),
    MH_DSYM: ("holds debug information only", "pass the dylib; its .dSYM is found beside it"),
}
_TYPES: dict[int, Literal["dylib", "stub", "bundle", "executable"]] = {
    MH_DYLIB: "dylib",
    MH_DYLIB_STUB: "stub",
    MH_BUNDLE: "bundle",
    MH_EXECUTE: "executable",
}


class MachoTables(msgspec.Struct):
    """What the binary's own tables say. ``objects`` is how many object files the debug map names."""

    entries: dict[Name, Variants]
    exports: Exports
    own: Dylib | None
    objects: int


def read_tables(macho: MachOFile, *, programs: bool = False) -> MachoTables:
    """The symbol facet of ``macho``. Raises :class:`ExtractError` where it is no library that one could link to.

    ``programs`` may export nothing.
    """
    sort = _sort(macho)
    with _named(macho):
        own, needed = own_name(macho), dependencies(macho)
        rows = read_rows(macho)
        listed = list(listed_exports(macho, rows))
        found = filled(macho, rows, list(exported(macho, rows, needed, listed)))
        imports = list(imported(macho, rows, needed))
        gathered: dict[Name, list[AnyShape]] = {}
        for each in found:
            gathered.setdefault(each.name, []).append(each.symbol)
        for name, shape in imports:
            gathered.setdefault(name, []).append(shape)
        entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
        library = _library(macho, sort, {name.spelling for name, _ in imports})
        entries[SELF] = (with_directives(library, (each.name for each in listed)),)
    if sort == "executable" and not found and not programs:
        raise ExtractError(f"{macho.path}: is an executable without exports", "pass a dylib")
    return MachoTables(entries, index_exports(found, rows), own, sum(row.type == N_OSO for row in rows))


@contextmanager
def _named(macho: MachOFile) -> Iterator[None]:
    try:
        yield
    except Malformed as error:
        raise ExtractError(f"{macho.path}: {error}", "copy or download the file again") from error


def _sort(macho: MachOFile) -> Literal["dylib", "stub", "bundle", "executable"]:
    if macho.type in _REFUSED:
        said, hint = _REFUSED[macho.type]
        raise ExtractError(f"{macho.path}: {said}", hint)
    if macho.type not in _TYPES:
        raise ExtractError(f"{macho.path}: is a Mach-O file of the type {macho.type}, no library", "pass a dylib")
    return _TYPES[macho.type]


def _library(macho: MachOFile, sort: Literal["dylib", "stub", "bundle", "executable"], imports: set[str]) -> Library:
    own, needed = own_name(macho), dependencies(macho)
    facts = MachoLibrary(
        file_type="dylib" if sort == "stub" else sort,  # a stub stands for the dylib that it was made of
        minimum_os=platform_of(macho).minimum,
        reexports=tuple(sorted({each.name for each in needed if "re-exported" in each.linkage})),
        linkage=tuple(sorted({(each.name, word) for each in needed for word in each.linkage if word != "re-exported"})),
        requirements=tuple(sorted({(each.name, each.compatibility) for each in needed})),
        clients=clients(macho),
    )
    return Library(
        file_kind="executable" if sort == "executable" else "shared",
        name=own.name if own else None,
        needed=tuple(dict.fromkeys(each.name for each in needed)),
        search_paths=search_paths(macho),
        compatibility_version=own.compatibility if own else None,
        protections=tuple(sorted(protections(macho, imports))),
        weaknesses=tuple(sorted(weaknesses(macho))),
        features=tuple(sorted(_features(macho))),
        macho=facts,
    )


def with_directives(library: Library, names: Iterable[str]) -> Library:
    """The library with those of its exported ``names`` that speak to linkers."""
    told = tuple(sorted({each for each in names if DIRECTIVE.match(each)}))
    return msgspec.structs.replace(library, macho=msgspec.structs.replace(library.on_macho, directives=told))


def _features(macho: MachOFile) -> Iterator[str]:
    if not macho.flags & MH_TWOLEVEL:
        yield "flat namespace"
    if macho.flags & MH_APP_EXTENSION_SAFE:
        yield "app extensions"


INSIDE = Path("Contents", "Resources", "DWARF")
NEEDED = (".debug_info", ".debug_abbrev")
MachoSearch: TypeAlias = "DebugSearch[MachOFile]"

_HINT = (
    "run `dsymutil {name}` on the machine that built it, before its object files are deleted, and lay {name}.dSYM"
    " beside the library or name its folder with --debug-dir"
)


def find_debug(macho: MachOFile, options: ExtractOptions, objects: int) -> MachoSearch:
    """The file with the debug information of ``macho``: itself, or one in a bundle with its UUID.

    ``objects`` is how many object files its debug map names: their debug information was never linked.
    """
    if all(map(macho.has, NEEDED)):
        return DebugSearch(macho, "file")
    searches = (_examine(macho, path, source) for path, source in _candidates(macho, options))
    return first_found(searches, _nothing(macho, objects))


def _nothing(macho: MachOFile, objects: int) -> MachoSearch:
    hint = _HINT.format(name=macho.path.name)
    if objects:
        detail = f"its debug information is in {objects:,} object files, which are not read; there is no .dSYM"
        return DebugSearch(None, "", "debug-file-missing", detail, hint)
    known = f", and no .dSYM has its UUID {macho.uuid}" if macho.uuid else ", and it has no UUID"
    return DebugSearch(None, "", "no-debug-info", f"no debug information in the file{known}", f"build with -g; {hint}")


def _candidates(macho: MachOFile, options: ExtractOptions) -> Iterator[tuple[Path | InputFile, str]]:
    """The files where a bundle may be: in debug packages, beside the library or its framework, in the folders given."""
    own, seen = macho.path.absolute(), set[Path]()
    for file in options.debug_files:
        if file.path.name == own.name:
            yield file, "debug-package"
    for folder, source in (*((each, "debug-dir") for each in options.debug_dirs), (own.parent, "file-folder")):
        for path in _in_folder(folder, own.name):
            if path not in seen and is_file(path):
                seen.add(path)
                yield path, source
    framework = next((each for each in own.parents if each.suffix == ".framework"), None)
    if framework is not None:
        path = framework.with_name(f"{framework.name}.dSYM") / INSIDE / own.name
        if path not in seen and is_file(path):
            yield path, "file-folder"


def _in_folder(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.dSYM" / INSIDE / name
    yield folder / INSIDE / name
    if folder.suffix == ".dSYM":
        yield folder / INSIDE / name


def _examine(macho: MachOFile, found_at: Path | InputFile, source: str) -> MachoSearch:
    """The part for the library's architecture, if it is of the same build and complete; else why it is refused."""
    hint = _HINT.format(name=macho.path.name)
    try:
        file = found_at if isinstance(found_at, InputFile) else InputFile(found_at)
        parts = [MachOFile(file, macho.max_bytes, each) for each in parts_of(file)]
    except (InputError, LimitExceeded) as error:
        return DebugSearch(None, source, "unreadable-debug-file", error.message, hint)
    path = file.path
    own = [each for each in parts if (each.cpu, each.subtype) == (macho.cpu, macho.subtype)]
    found = next((each for each in own if each.uuid == macho.uuid and macho.uuid), None)
    if found is None:
        ids = ", ".join(each.uuid or "none" for each in own) or "of another architecture"
        detail = f"{path.name} of its .dSYM belongs to another build: its UUID is {ids}, not {macho.uuid or 'known'}"
        return DebugSearch(None, source, "stale-debug-file", detail, hint)
    if not all(map(found.has, NEEDED)):
        detail = f"{path.name} of its .dSYM has no {' and no '.join(NEEDED)}"
        return DebugSearch(None, source, "incomplete-debug-info", detail, hint)
    return DebugSearch(found, source)


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
    from abistore.extract.dwarf.layout import read_layout  # the larger half of the reading code, not always needed

    soname = Path(tables.own.name).name if tables.own else None
    exports, source = tables.exports, search.source
    return read_layout(macho, search.file, exports, options, target=target, soname=soname, source=source)
