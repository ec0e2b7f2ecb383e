"""An ELF file: header, section and segment tables, and the bytes of each."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from abistore.errors import ExtractError, LimitExceeded, UnknownFormat
from abistore.extract.debug_link import SupplementaryLink, debug_link, read_supplement
from abistore.extract.elf.notes import NT_GNU_BUILD_ID, ElfNote, read_notes
from abistore.extract.input_file import InputFile
from abistore.extract.string_table import text_at

MAGIC = b"\x7fELF"
SHT_NOTE, SHT_NOBITS = 7, 8
SHF_EXECINSTR, SHF_COMPRESSED = 0x4, 0x800
PT_LOAD, PT_NOTE, PT_TLS = 1, 4, 7
_INDEX_ELSEWHERE, _PHNUM_ELSEWHERE = 0xFFFF, 0xFFFF  # SHN_XINDEX, PN_XNUM

_HEADER = {32: "HHIIIIIHHHHHH", 64: "HHIQQQIHHHHHH"}
_SECTION = {32: "IIIIIIIIII", 64: "IIQQQQIIQQ"}
_SEGMENT = {32: "IIIIIIII", 64: "IIQQQQQQ"}


class ElfSection(msgspec.Struct, frozen=True):
    """One entry of the section table; ``offset`` and ``size`` are in bytes of the file, as stored."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int
    alignment: int


class ElfSegment(msgspec.Struct, frozen=True):
    """One entry of the program header table; sizes in bytes."""

    type: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int
    alignment: int


class ElfFile:
    """One ELF file. The tables are read at once, section contents on demand and not kept.

    Raises :class:`UnknownFormat` where the magic is missing, :class:`ExtractError` where the file is truncated or
    contradicts itself, :class:`LimitExceeded` above ``max_bytes``. Field names follow the gABI, chapters 4 and 5.
    """

    def __init__(self, source: Path | InputFile, max_bytes: int = 4 << 30) -> None:
        self.file = source if isinstance(source, InputFile) else InputFile(source)
        self.path = self.file.path
        self.size = self.file.size
        self.max_bytes = max_bytes
        self.file.check_size(max_bytes)
        self._read_tables()

    def _read_tables(self) -> None:
        if self.size == 0:
            raise ExtractError(f"{self.path}: the file is empty")
        ident = self.read_at(0, min(16, self.size))
        if ident[:4] != MAGIC:
            raise UnknownFormat(f"{self.path}: not an ELF file")
        if len(ident) < 16 or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise ExtractError(f"{self.path}: its ELF header is damaged")
        self.bits: Literal[32, 64] = 32 if ident[4] == 1 else 64
        self.little = ident[5] == 1
        self.order = "<" if self.little else ">"
        self.os_abi = ident[7]
        layout = struct.Struct(self.order + _HEADER[self.bits])
        header = layout.unpack(self.read_at(16, layout.size))
        self.type, self.machine, self.version, self.entry, segment_offset, section_offset, self.flags = header[:7]
        _header_size, segment_entry, segment_count, section_entry, section_count, names = header[7:]
        first = self._section_zero(section_offset, section_entry)
        if first is not None:
            section_count = section_count or first.size
            names = first.link if names == _INDEX_ELSEWHERE else names
            segment_count = first.info if segment_count == _PHNUM_ELSEWHERE else segment_count
        self.sections = self._sections(section_offset, section_entry, section_count, names) if first else ()
        self.segments = self._segments(segment_offset, segment_entry, segment_count)
        self._by_name: dict[str, ElfSection] = {}
        for section in self.sections:
            self._by_name.setdefault(section.name, section)

    def _section_zero(self, offset: int, entry: int) -> ElfSection | None:
        layout = struct.Struct(self.order + _SECTION[self.bits])
        if offset == 0:
            return None
        if entry != layout.size:
            raise ExtractError(f"{self.path}: its section header table has entries of {entry} bytes, not {layout.size}")
        return ElfSection("", *layout.unpack(self.read_at(offset, layout.size))[1:])

    def _sections(self, offset: int, entry: int, count: int, names: int) -> tuple[ElfSection, ...]:
        table = self.read_at(offset, entry * count)
        rows = list(struct.iter_unpack(self.order + _SECTION[self.bits], table))
        if names >= len(rows):
            raise ExtractError(f"{self.path}: section {names}, which should name all others, does not exist")
        _, kind, _, _, start, size, *_ = rows[names]
        strings = self.read_at(start, size) if kind != SHT_NOBITS else b""
        texts = texts_at(strings, [row[0] for row in rows], self.path)
        return tuple(ElfSection(text, *row[1:]) for text, row in zip(texts, rows, strict=True))

    def _segments(self, offset: int, entry: int, count: int) -> tuple[ElfSegment, ...]:
        layout = struct.Struct(self.order + _SEGMENT[self.bits])
        if not count or not offset:
            return ()
        if entry != layout.size:
            raise ExtractError(f"{self.path}: its program header table has entries of {entry} bytes, not {layout.size}")
        rows = layout.iter_unpack(self.read_at(offset, entry * count))
        if self.bits == 64:
            return tuple(ElfSegment(t, flags, o, va, fs, ms, al) for t, flags, o, va, _, fs, ms, al in rows)
        return tuple(ElfSegment(t, flags, o, va, fs, ms, al) for t, o, va, _, fs, ms, flags, al in rows)

    # --- bytes ----------------------------------------------------------------------------------------------------

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes at a file offset. Raises :class:`ExtractError` where they are not all there."""
        return self.file.read_at(offset, size)

    def at_address(self, address: int, size: int | None = None) -> bytes:
        """The file's bytes at a link-time address: ``size`` of them, or all up to the end of the segment.

        Raises :class:`ExtractError` where no loaded segment has them.
        """
        for segment in self.segments:
            if segment.type == PT_LOAD and segment.address <= address < segment.address + segment.file_size:
                rest = segment.address + segment.file_size - address
                if size is None or size <= rest:
                    return self.read_at(segment.offset + address - segment.address, rest if size is None else size)
        raise ExtractError(f"{self.path}: no PT_LOAD segment holds address {address:#x}")

    def has(self, name: str) -> bool:
        """Whether the file holds the contents of section ``name``, plain or compressed."""
        section = self._find(name)
        return section is not None and section.type != SHT_NOBITS and section.size > 0

    def section(self, name: str) -> bytes:
        """The decompressed contents of section ``name``; empty where it is absent or has none in this file.

        Raises :class:`ExtractError` where it is cut off or corrupt, :class:`LimitExceeded` where it is too large.
        """
        section = self._find(name)
        return b"" if section is None else self.contents(section)

    def sections_named(self, name: str) -> Iterator[bytes]:
        """The contents of every section ``name``: a ``.dwo`` file has one ``.debug_types.dwo`` for each type."""
        for section in self.sections:
            if section.name == name:
                yield self.contents(section)

    def contents(self, section: ElfSection) -> bytes:
        """The decompressed contents of ``section``."""
        if section.type == SHT_NOBITS or not section.size:
            return b""
        data = self.read_at(section.offset, section.size)
        if not (section.flags & SHF_COMPRESSED or section.name.startswith(".zdebug_")):
            return data
        from abistore.extract.elf.compressed import expand, expand_old

        try:
            if section.flags & SHF_COMPRESSED:
                return expand(data, bits=self.bits, little=self.little, max_bytes=self.max_bytes)
            return expand_old(data, self.max_bytes)
        except (ExtractError, LimitExceeded) as error:
            raise type(error)(f"{self.path}: {section.name}: {error.message}", error.hint) from error

    def _find(self, name: str) -> ElfSection | None:
        section = self._by_name.get(name)
        if section is None and name.startswith(".debug_"):
            section = self._by_name.get(".z" + name[1:])
        return section

    def check_unchanged(self) -> None:
        """Raises :class:`ExtractError` where the file was written to since it was opened."""
        self.file.check_unchanged()

    def another(self, path: Path) -> ElfFile:
        """A further ELF file with the same limit of size. Raises :class:`InputError`."""
        return ElfFile(path, self.max_bytes)

    @cached_property
    def tls_addresses(self) -> range:
        """The link-time addresses of the TLS segment; empty where there is none."""
        segment = next((each for each in self.segments if each.type == PT_TLS), None)
        return range(segment.address, segment.address + segment.memory_size) if segment else range(0)

    # --- identity -------------------------------------------------------------------------------------------------

    @cached_property
    def notes(self) -> tuple[ElfNote, ...]:
        """All notes, from the sections where there are any, else from the segments."""
        pieces = [(s.offset, s.size, s.alignment) for s in self.sections if s.type == SHT_NOTE]
        if not self.sections:
            pieces = [(p.offset, p.file_size, p.alignment) for p in self.segments if p.type == PT_NOTE]
        return tuple(
            note
            for offset, size, alignment in pieces
            for note in read_notes(self.read_at(offset, size), self.order, alignment)
        )

    @cached_property
    def build_id(self) -> str | None:
        """The GNU build-id in lower-case hexadecimal."""
        found = (note.data for note in self.notes if (note.owner, note.type) == (b"GNU", NT_GNU_BUILD_ID) and note.data)
        return next(map(bytes.hex, found), None)

    @cached_property
    def debuglink(self) -> tuple[str, int] | None:
        """The file name and CRC-32 of ``.gnu_debuglink``."""
        return debug_link(self.section(".gnu_debuglink"), self.order)

    @cached_property
    def alternate_link(self) -> tuple[str, str] | None:
        """The name of the file that ``dwz`` moved common entries to, and its identity: see :attr:`identities`."""
        data = self.section(".gnu_debugaltlink")
        end = data.find(b"\0")
        if end >= 1:
            return text_at(data, 0), data[end + 1 :].hex()
        found = self._supplement
        return None if found is None or found.is_supplementary else (found.name, found.checksum)

    @cached_property
    def identities(self) -> frozenset[str]:
        """By what a link may name this file: its build-id, and its checksum where it is a supplementary one."""
        found = self._supplement
        checksum = found.checksum if found is not None and found.is_supplementary else None
        return frozenset(each for each in (self.build_id, checksum) if each)

    @cached_property
    def _supplement(self) -> SupplementaryLink | None:
        return read_supplement(self.section(".debug_sup"), self.order)


def texts_at(strings: bytes, offsets: Sequence[int], path: Path) -> list[str]:
    """:func:`abistore.extract.string_table.text_at` for many offsets.

    Raises :class:`ExtractError` where the texts overlap so much that a small file would fill the memory.
    """
    budget = 16 * len(strings) + (1 << 20)
    texts: list[str] = []
    for offset in offsets:
        text = text_at(strings, offset)
        budget -= len(text)
        if budget < 0:
            raise ExtractError(f"{path}: the names in a string table overlap: together they would fill the memory")
        texts.append(text)
    return texts
