"""A PE file: headers, sections and data directories, hardening, and where its debug files are."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from abistore.errors import ExtractError, InputError, LimitExceeded, UnknownFormat
from abistore.extract.elf.container import expand_old
from abistore.extract.files import InputFile, debug_link, text_at
from abistore.extract.reader import DebugSearch, ExtractOptions, first_found
from abistore.files import is_file
from abistore.model.words import (
    ASLR,
    CFG,
    DEP,
    FORCED_INTEGRITY,
    HIGH_ENTROPY,
    SAFE_SEH,
    SHADOW_STACK,
    STACK_CANARY,
    WRITABLE_CODE,
)

MAGIC: Final = b"MZ"
HEADER_BYTES: Final = 1 << 16
"""How much of a file is looked at for headers: linkers put them into the first page or two."""

EXPORTS, IMPORTS, RESOURCES, DEBUG, LOAD_CONFIG, DELAY_IMPORTS, CLR = 0, 1, 2, 6, 10, 13, 14
"""Data directories, by their number (PE format, "Optional Header Data Directories")."""

CODE, EXECUTABLE, WRITABLE = 0x20, 0x20000000, 0x80000000
"""Flags of sections."""

_MOST_NAMES: Final = 1 << 26
_SYMBOL: Final = struct.Struct("<8sIhHBB")
_SYMBOL_BYTES: Final = _SYMBOL.size
_EXTERNAL: Final = 2
"""``IMAGE_SYM_CLASS_EXTERNAL``."""


class PeSection(msgspec.Struct, frozen=True):
    """One section: where it lies in memory (relative to the image base) and in the file."""

    name: str
    address: int
    memory_size: int
    offset: int
    file_size: int
    flags: int

    @property
    def is_code(self) -> bool:
        """Whether it holds code."""
        return bool(self.flags & (CODE | EXECUTABLE))

    @property
    def is_writable(self) -> bool:
        """Whether programs may write to what it holds."""
        return bool(self.flags & WRITABLE)

    @property
    def size(self) -> int:
        """How many bytes of the file are its contents: files pad them, memory extends them with zeros."""
        return min(self.file_size, self.memory_size) if self.memory_size else self.file_size


class PeFile:
    """One PE file. Headers are read at once, section contents on demand.

    Raises :class:`UnknownFormat` where it is none, :class:`ExtractError` where it is truncated or contradicts itself,
    :class:`LimitExceeded` above ``max_bytes``. Addresses are relative to the image base (RVAs) unless told otherwise.
    """

    little: Final = True
    tls_addresses: Final = range(0)
    alternate_link: Final = None

    def __init__(self, source: Path | InputFile, max_bytes: int = 4 << 30) -> None:
        self.file = source if isinstance(source, InputFile) else InputFile(source)
        self.path = self.file.path
        self.size = self.file.size
        self.max_bytes = max_bytes
        self.file.check_size(max_bytes)
        headers = _headers(self.file)
        self.machine: int = headers.FILE_HEADER.Machine
        self.flags: int = headers.FILE_HEADER.Characteristics
        self._symbols: tuple[int, int] = (
            headers.FILE_HEADER.PointerToSymbolTable,
            headers.FILE_HEADER.NumberOfSymbols,
        )
        optional = headers.OPTIONAL_HEADER
        self.bits: Literal[32, 64] = 64 if optional.Magic == 0x20B else 32
        self.image_base: int = optional.ImageBase
        self.subsystem: int = optional.Subsystem
        self.system_version: tuple[int, int] = (optional.MajorSubsystemVersion, optional.MinorSubsystemVersion)
        self.dll_flags: int = optional.DllCharacteristics
        self._directories = [(each.VirtualAddress, each.Size) for each in optional.DATA_DIRECTORY]
        self.sections = tuple(self._section(each) for each in headers.sections)
        self._contents: tuple[PeSection | None, bytes] = (None, b"")

    def _section(self, header: Any) -> PeSection:
        return PeSection(
            self._section_name(header.Name.rstrip(b"\0").decode("utf-8", "backslashreplace")),
            header.VirtualAddress,
            header.Misc_VirtualSize,
            header.PointerToRawData,
            header.SizeOfRawData,
            header.Characteristics,
        )

    def _section_name(self, name: str) -> str:
        """Names of more than eight letters stand in the COFF string table: ``/4`` is the text at its offset 4."""
        if not (name.startswith("/") and name[1:].isdecimal() and name.isascii()):
            return name
        return text_at(self._strings, int(name[1:])) or name

    @cached_property
    def _strings(self) -> bytes:
        table, count = self._symbols
        place = table + count * _SYMBOL_BYTES
        if not table or place + 4 > self.size:
            return b""
        (size,) = struct.unpack("<I", self.file.read_at(place, 4))
        return self.file.read_at(place, min(size, self.size - place, _MOST_NAMES))

    def symbol(self, name: str) -> int | None:
        """The address of a symbol of more than eight letters in the COFF symbol table, which ``strip`` takes out."""
        table, count = self._symbols
        offset = self._strings.find(f"\0{name}\0".encode()) + 1
        if not offset or table + count * _SYMBOL_BYTES > self.size:
            return None
        rows = self.file.read_at(table, min(count * _SYMBOL_BYTES, _MOST_NAMES))
        wanted, at = struct.pack("<II", 0, offset), 0
        while (at := rows.find(wanted, at)) >= 0:
            if at % _SYMBOL_BYTES == 0:
                value, section = struct.unpack_from("<Ih", rows, at + 8)
                return self.sections[section - 1].address + int(value) if 0 < section <= len(self.sections) else None
            at += 1
        return None

    def external_symbols(self, addresses: Collection[int]) -> Mapping[int, tuple[str, ...]]:
        """The external symbols of the COFF symbol table at ``addresses``, sorted; nothing once ``strip`` was there."""
        table, count = self._symbols
        size = min(count * _SYMBOL_BYTES, _MOST_NAMES) if table + count * _SYMBOL_BYTES <= self.size else 0
        rows = self.file.read_at(table, size) if table and size else b""
        starts = [0, *(section.address for section in self.sections)]
        found: dict[int, set[str]] = {}
        at = 0
        while at + _SYMBOL_BYTES <= len(rows):
            name, value, section, _, storage, more = _SYMBOL.unpack_from(rows, at)
            at += _SYMBOL_BYTES * (1 + more)
            if storage == _EXTERNAL and 0 < section < len(starts) and starts[section] + value in addresses:
                found.setdefault(starts[section] + value, set()).add(self._symbol_name(name))
        return {address: tuple(sorted(names - {""})) for address, names in found.items()}

    def _symbol_name(self, name: bytes) -> str:
        if name[:4] == bytes(4):
            return text_at(self._strings, int.from_bytes(name[4:], "little"))
        return name.rstrip(b"\0").decode("utf-8", "backslashreplace")

    # --- bytes ----------------------------------------------------------------------------------------------------

    def directory(self, number: int) -> tuple[int, int]:
        """The address and size of a data directory; zeros where there is none."""
        return self._directories[number] if number < len(self._directories) else (0, 0)

    def section_at(self, address: int) -> PeSection | None:
        """The section that holds ``address``."""
        for section in self.sections:
            if section.address <= address < section.address + max(section.memory_size, section.file_size):
                return section
        return None

    def window(self, address: int) -> tuple[bytes, int]:
        """The contents of the section that holds ``address``, and the place of ``address`` in them.

        Raises :class:`ExtractError` where no section of the file does.
        """
        section = self.section_at(address)
        if section is None or address - section.address >= section.file_size:
            raise ExtractError(f"{self.path}: no section holds address {address:#x}", "copy or download the file again")
        if self._contents[0] is not section:
            self._contents = section, self.file.read_at(section.offset, section.file_size)
        return self._contents[1], address - section.address

    def at_address(self, address: int, size: int) -> bytes:
        """``size`` bytes at an address. Raises :class:`ExtractError` where the file does not have them all."""
        contents, place = self.window(address)
        if place + size > len(contents):
            raise ExtractError(f"{self.path}: truncated: {size:,} bytes are not all at address {address:#x}")
        return contents[place : place + size]

    def text_at(self, address: int) -> str:
        """The zero-terminated text at an address."""
        contents, place = self.window(address)
        return text_at(contents, place)

    # --- what DWARF is read from ----------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the file holds the contents of section ``name``."""
        return any(section.size for section in self._named(name))

    def section(self, name: str) -> bytes:
        """The contents of section ``name``; empty where it is absent."""
        return next(self.sections_named(name), b"")

    def sections_named(self, name: str) -> Iterator[bytes]:
        """The contents of every section ``name``."""
        for section in self._named(name):
            yield self._expanded(section)

    def _named(self, name: str) -> Iterator[PeSection]:
        names = (name, ".z" + name[1:]) if name.startswith(".debug_") else (name,)
        return (each for each in self.sections if each.name in names)

    def _expanded(self, section: PeSection) -> bytes:
        contents = self.file.read_at(section.offset, section.size)
        if not section.name.startswith(".zdebug_"):
            return contents
        try:
            return expand_old(contents, self.max_bytes)
        except (ExtractError, LimitExceeded) as error:
            raise type(error)(f"{self.path}: {section.name}: {error.message}", error.hint) from error

    def check_unchanged(self) -> None:
        """Raises :class:`ExtractError` where the file was written to since it was opened."""
        self.file.check_unchanged()

    def another(self, path: Path | InputFile) -> PeFile:
        """A further PE file with the same limit of size. Raises :class:`InputError`."""
        return PeFile(path, self.max_bytes)

    @cached_property
    def debuglink(self) -> tuple[str, int] | None:
        """The file name and CRC-32 of ``.gnu_debuglink``."""
        return debug_link(self.section(".gnu_debuglink"), "<")


def _headers(file: InputFile) -> Any:
    """The headers as pefile reads them. It is shown the beginning of the file only, which bounds its work."""
    import pefile  # type: ignore[import-untyped]  # no other format needs it

    if not file.head.startswith(MAGIC):
        raise UnknownFormat(f"{file.path}: not a PE file")
    try:
        return pefile.PE(data=file.read_at(0, min(file.size, HEADER_BYTES)), fast_load=True)
    except pefile.PEFormatError as error:
        raise UnknownFormat(f"{file.path}: not a PE file: {error.value}", "pass a DLL") from error
    except Exception as error:  # what it lets through of damaged headers is of any kind
        raise ExtractError(f"{file.path}: its PE headers are damaged: {error}") from error


_HIGH_ENTROPY, _DYNAMIC_BASE, _FORCE_INTEGRITY, _NX, _NO_SEH, _GUARD_CF = 0x20, 0x40, 0x80, 0x100, 0x400, 0x4000
_RELOCATIONS_STRIPPED: Final = 1
_EXTENDED_DLL_FLAGS, _CET_COMPATIBLE = 20, 1
_COOKIE, _HANDLERS = {32: 0x3C, 64: 0x58}, 0x40
_DEBUG_ROW: Final = struct.Struct("<12xIIII")
_MOST_DEBUG_ROWS: Final = 64


def protections(pe: PeFile) -> Iterator[str]:
    """What protects a process: flags of the optional header, of the load configuration, and of the debug directory."""
    moves = bool(pe.dll_flags & _DYNAMIC_BASE) and not pe.flags & _RELOCATIONS_STRIPPED
    if moves:
        yield ASLR
    if moves and pe.bits == 64 and pe.dll_flags & _HIGH_ENTROPY:
        yield HIGH_ENTROPY
    if pe.dll_flags & _NX:
        yield DEP
    if pe.dll_flags & _GUARD_CF:
        yield CFG
    if pe.dll_flags & _FORCE_INTEGRITY:
        yield FORCED_INTEGRITY
    if pe.bits == 32 and (pe.dll_flags & _NO_SEH or _configured(pe, _HANDLERS)):
        yield SAFE_SEH
    if _configured(pe, _COOKIE[pe.bits]):
        yield STACK_CANARY
    if any(kind == _EXTENDED_DLL_FLAGS and value & _CET_COMPATIBLE for kind, value in _extended(pe)):
        yield SHADOW_STACK


def weaknesses(pe: PeFile) -> Iterator[str]:
    """What makes a process easier to attack."""
    if any(each.flags & EXECUTABLE and each.flags & WRITABLE for each in pe.sections):
        yield WRITABLE_CODE


def _configured(pe: PeFile, offset: int) -> int:
    """The word at an offset of the load configuration; 0 where that is absent or ends before it."""
    start, _ = pe.directory(LOAD_CONFIG)
    width = pe.bits // 8
    try:
        if not start or struct.unpack("<I", pe.at_address(start, 4))[0] < offset + width:
            return 0
        return int.from_bytes(pe.at_address(start + offset, width), "little")
    except ExtractError:
        return 0  # the loader ignores a configuration that it cannot find


def debug_rows(pe: PeFile) -> Iterator[tuple[int, bytes]]:
    """The rows of the debug directory that lie in the file: the kind of each, and what it tells."""
    start, size = pe.directory(DEBUG)
    for row in range(min(size // 28, _MOST_DEBUG_ROWS)):
        try:
            kind, length, _, offset = _DEBUG_ROW.unpack(pe.at_address(start + 28 * row, 28))
            yield kind, pe.file.read_at(offset, min(length, 1 << 12))
        except ExtractError:
            continue  # debuggers pass over what is damaged, too


def _extended(pe: PeFile) -> Iterator[tuple[int, int]]:
    for kind, told in debug_rows(pe):
        if len(told) >= 4:
            yield kind, struct.unpack_from("<I", told)[0]


CODEVIEW = 2
_RSDS = struct.Struct("<4s16sI")
DwarfSearch: TypeAlias = "DebugSearch[PeFile]"

_HINT = "build it with -g and do not strip it, or pass the folder of its .debug file with --debug-dir"
_NOTHING_HINT = (
    "compile it with /Zi, link it with /DEBUG and keep its PDB file (MinGW: -g, and do not strip it), or pass "
    "the folder of its PDB or .debug file with --debug-dir"
)


class PdbLink(msgspec.Struct, frozen=True):
    """Which PDB file belongs to a DLL: its path where it was linked, its identity, and how often it was written."""

    path: str
    guid: bytes
    age: int

    @property
    def identity(self) -> str:
        """The identity as symbol servers spell it."""
        first, second, third = struct.unpack("<IHH", self.guid[:8])
        return f"{first:08x}{second:04x}{third:04x}{self.guid[8:].hex()}{self.age:x}"


def pdb_link(pe: PeFile) -> PdbLink | None:
    """What the debug directory says about the PDB file; linkers of MinGW write it for the identity only."""
    for kind, told in debug_rows(pe):
        if kind == CODEVIEW and told.startswith(b"RSDS") and len(told) >= _RSDS.size:
            _, guid, age = _RSDS.unpack_from(told)
            path = told[_RSDS.size :].partition(b"\0")[0].decode("utf-8", "replace")
            return PdbLink(path, guid, age)
    return None


def build_id(pe: PeFile) -> str | None:
    """What the linker identified this build by."""
    link = pdb_link(pe)
    return link.identity if link and any(link.guid) else None


def find_debug(pe: PeFile, options: ExtractOptions) -> DwarfSearch:
    """The file with the DWARF of ``pe``: itself, or what its debug link names and its checksum proves."""
    if pe.has(".debug_info") and pe.has(".debug_abbrev"):
        return DebugSearch(pe, "file")
    if pe.debuglink is None:
        return DebugSearch(None, "", "no-debug-info", "no debug information in the file", _NOTHING_HINT)
    name, checksum = pe.debuglink
    places = _candidates(pe.path, Path(name).name, options.debug_dirs)
    packed = [(each, "debug-package") for each in options.debug_files if each.path.name == Path(name).name]
    found = [_examine(pe, file, source, checksum) for file, source in packed]
    searches = chain(found, (_examine(pe, path, source, checksum) for path, source in places))
    detail = f"its separate debug file {Path(name).name} was not found"
    return first_found(searches, DebugSearch(None, "", "debug-file-missing", detail, _HINT))


def _candidates(path: Path, name: str, folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    beside = path.absolute().parent
    places = [(beside / name, "debuglink"), (beside / ".debug" / name, "debuglink")]
    places += [(folder / name, "debug-dir") for folder in folders]
    return (each for each in places if each[0] != path.absolute() and is_file(each[0]))


def _examine(pe: PeFile, found_at: Path | InputFile, source: str, checksum: int) -> DwarfSearch:
    """The candidate, if it is of the same build and complete; else why it is refused."""
    path = found_at.path if isinstance(found_at, InputFile) else found_at
    try:
        found = pe.another(found_at)
        if found.file.crc32() != checksum:
            hint = "pass the --debug-dir of the same build"
            detail = f"{path.name}: its checksum is not the one that the DLL requires"
            return DebugSearch(None, source, "stale-debug-file", detail, hint)
        if not (found.has(".debug_info") and found.has(".debug_abbrev")):
            return DebugSearch(None, source, "incomplete-debug-info", f"{path.name}: contains no DWARF", _HINT)
        return DebugSearch(found, source)
    except LimitExceeded:
        raise
    except InputError as error:
        detail = f"{path.name}: {error.message}"
        return DebugSearch(None, source, "unreadable-debug-file", detail, "download the debug file again")
