"""A PE file: headers, sections, data directories, and the bytes of each."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from abistore.errors import ExtractError, LimitExceeded, UnknownFormat
from abistore.extract.debug_link import debug_link
from abistore.extract.elf.compressed import expand_old
from abistore.extract.input_file import InputFile
from abistore.extract.string_table import text_at

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
