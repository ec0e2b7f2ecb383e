"""An ELF file: header, sections and segments, with the bytes, notes and dynamic entries of each."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Final, Literal

import msgspec

from abistore.errors import ExtractError, LimitExceeded, UnknownFormat
from abistore.extract.files import InputFile, SupplementaryLink, debug_link, read_supplement, text_at
from abistore.patterns import pattern

_PLACES = """
_PROCEDURE_LINKAGE_TABLE_ __TMC_END__ __GNU_EH_FRAME_HDR __executable_start __ehdr_start _stack __RLD_MAP
_edata edata __edata _end end __end __end__ _etext etext __etext _fdata _ftext _fbss _gp __gnu_local_gp
__bss_start __bss_start__ _bss_end__ __bss_end__ __BSS_END__ __data_start data_start __DATA_BEGIN__ __SDATA_BEGIN__
__exidx_start __exidx_end __global_pointer$ __rela_iplt_start __rela_iplt_end __rel_iplt_start __rel_iplt_end
__preinit_array_start __preinit_array_end __init_array_start __init_array_end __fini_array_start __fini_array_end
"""
PLACES = frozenset(_PLACES.split())
"""Bounds of sections and tables. Noise where they have no type and no size: a library may have such a function."""

OBJECTS = frozenset({"_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__dso_handle", "_IO_stdin_used"})
"""The linker's and the start files' own objects, which may have a type. Always noise."""

ENTRIES = frozenset({"_init", "_fini", "_start", "__start"})
"""Start-file functions. Noise where they lie at DT_INIT, DT_FINI or the entry point."""

_MAPPING = pattern(r"\$[adtx]([0-9a-z_]*)?(\..*)?")
"""Mapping symbols of ARM, AArch64 and RISC-V ("ELF for the Arm Architecture"; RISC-V ELF psABI)."""


def is_noise(name: str, *, typed: bool, entry: bool) -> bool:
    """Whether a defined symbol only marks a place.

    ``typed``: it has a type or a size; ``entry``: its value is DT_INIT, DT_FINI or the file's entry point.
    """
    if name in ENTRIES:
        return entry
    if name in OBJECTS:
        return True
    return not typed and (name in PLACES or _MAPPING.fullmatch(name) is not None)


ZLIB, ZSTD = 1, 2
"""ELFCOMPRESS_ZLIB and ELFCOMPRESS_ZSTD (gABI, "Section Compression")."""

MOST_TIMES = 1032
"""How many times its size a section expands to at most: what Deflate can do (RFC 1951, a match of 258 bytes takes two
bits). Zstandard's format has no such bound, but debug information never came near it."""


def expand(data: bytes, *, bits: int, little: bool, max_bytes: int) -> bytes:
    """The contents of an SHF_COMPRESSED section, whose first bytes are an Elf_Chdr.

    Raises :class:`ExtractError` for corrupt data and :class:`LimitExceeded` above ``max_bytes``.
    """
    order = "<" if little else ">"
    layout = struct.Struct(order + ("III" if bits == 32 else "I4xQQ"))
    if len(data) < layout.size:
        raise ExtractError("a compressed section is shorter than its header")
    method, size, _alignment = layout.unpack_from(data)
    return _inflate(method, memoryview(data)[layout.size :], size, max_bytes)


def expand_old(data: bytes, max_bytes: int) -> bytes:
    """The contents of a ``.zdebug_*`` section: ``ZLIB``, the size as 8 big-endian bytes, a zlib stream."""
    if data[:4] != b"ZLIB" or len(data) < 12:
        return data
    return _inflate(ZLIB, memoryview(data)[12:], int.from_bytes(data[4:12], "big"), max_bytes)


def _inflate(method: int, stream: memoryview, size: int, max_bytes: int) -> bytes:
    if size > max_bytes:
        raise LimitExceeded(f"a compressed section declares {size:,} bytes, more than the limit of {max_bytes:,}")
    if size > MOST_TIMES * len(stream) + 64:
        raise LimitExceeded(
            f"a compressed section of {len(stream):,} bytes declares {size:,}, more than {MOST_TIMES:,} times as many"
        )
    if method == ZLIB:
        data = _zlib(stream, size)
    elif method == ZSTD:
        data = _zstd(stream, size)
    else:
        raise ExtractError(f"a section is compressed with the unknown method {method}")
    if len(data) != size:
        raise ExtractError("a compressed section does not expand to the size that it declares")
    return data


def _zlib(stream: memoryview, size: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(stream, size + 1)
    except zlib.error as error:
        raise ExtractError(f"a compressed section is corrupt: {error}") from error


def _zstd(stream: memoryview, size: int) -> bytes:
    zstd = _zstd_module()
    try:
        data: bytes = zstd.ZstdDecompressor().decompress(stream, size + 1)
    except zstd.ZstdError as error:
        raise ExtractError(f"a compressed section is corrupt: {error}") from error
    return data


def _zstd_module() -> ModuleType:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    raise ExtractError("a section is compressed with zstd", "pip install backports.zstd, or use Python 3.14 or newer")


NT_GNU_BUILD_ID, NT_GNU_PROPERTY = 3, 5


class ElfNote(msgspec.Struct, frozen=True):
    """One note: its owner's name, its type, its description."""

    owner: bytes
    type: int
    data: bytes


def read_notes(data: bytes, order: str, alignment: int) -> Iterator[ElfNote]:
    """The notes in ``data``, up to the first one that does not fit (gABI, "Note Section")."""
    layout = struct.Struct(order + "III")
    align = 8 if alignment == 8 else 4
    position = 0
    while position + layout.size <= len(data):
        name_size, size, kind = layout.unpack_from(data, position)
        start = position + layout.size
        content = _round(start + name_size, align)
        if content + size > len(data):
            return
        yield ElfNote(data[start : start + name_size].rstrip(b"\0"), kind, data[content : content + size])
        position = _round(content + size, align)


def properties(notes: Iterable[ElfNote], order: str, bits: int) -> dict[int, int]:
    """The GNU properties that are one 32-bit word, by property type (Linux gABI extensions)."""
    found: dict[int, int] = {}
    align = 8 if bits == 64 else 4
    for note in notes:
        if note.owner != b"GNU" or note.type != NT_GNU_PROPERTY:
            continue
        position = 0
        while position + 8 <= len(note.data):
            kind, size = struct.unpack_from(order + "II", note.data, position)
            if size == 4 and position + 12 <= len(note.data):
                found[kind] = struct.unpack_from(order + "I", note.data, position + 8)[0]
            position = _round(position + 8 + size, align)
    return found


def _round(value: int, alignment: int) -> int:
    return (value + alignment - 1) & -alignment


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
            raise ExtractError(f"{self.path}: the section of section names, {names}, does not exist")
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
    """:func:`abistore.extract.files.text_at` for many offsets.

    Raises :class:`ExtractError` where the texts overlap so much that a small file would fill the memory.
    """
    budget = 16 * len(strings) + (1 << 20)
    texts: list[str] = []
    for offset in offsets:
        text = text_at(strings, offset)
        budget -= len(text)
        if budget < 0:
            raise ExtractError(f"{path}: the names in a string table overlap and would exceed the memory limit")
        texts.append(text)
    return texts


PT_DYNAMIC, PT_INTERP = 2, 3
LONGEST_PATH = 4096
PAGE: Final = 4096
"""The loader maps whole pages: of 4,096 bytes where they are smallest."""
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_RPATH = 1, 4, 5, 6, 10, 14, 15
DT_INIT, DT_FINI, DT_SYMBOLIC, DT_TEXTREL, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS = 12, 13, 16, 22, 24, 29, 30
DT_RELR, DT_GNU_HASH, DT_VERSYM, DT_FLAGS_1 = 36, 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFB
DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
DT_AUXILIARY, DT_FILTER = 0x7FFFFFFD, 0x7FFFFFFF
DT_MIPS_XHASH = 0x70000036

DF_TEXTREL, DF_BIND_NOW = 0x4, 0x8
DF_1_NOW, DF_1_PIE = 0x1, 0x08000000

_FLAGS = {0x1: "DF_ORIGIN", 0x2: "DF_SYMBOLIC", 0x10: "STATIC_TLS"}
_FLAGS_1 = {
    0x2: "DF_1_GLOBAL",
    0x4: "DF_1_GROUP",
    0x8: "DF_1_NODELETE",
    0x10: "DF_1_LOADFLTR",
    0x20: "DF_1_INITFIRST",
    0x40: "DF_1_NOOPEN",
    0x80: "DF_1_ORIGIN",
    0x100: "DF_1_DIRECT",
    0x400: "DF_1_INTERPOSE",
    0x800: "DF_1_NODEFLIB",
    0x1000: "DF_1_NODUMP",
    0x00100000: "DF_1_NODIRECT",
    0x02000000: "DF_1_SINGLETON",
}


class DynamicSection:
    """The entries of PT_DYNAMIC by tag, and the tables that they point to.

    Raises :class:`ExtractError` where the table, its strings or a loaded segment lie outside the file.
    """

    def __init__(self, elf: ElfFile, values: dict[int, list[int]]) -> None:
        self.elf = elf
        self.values = values

    @classmethod
    def of(cls, elf: ElfFile) -> DynamicSection | None:
        """The dynamic section of ``elf``, or ``None`` where it is linked statically."""
        segment = next((s for s in elf.segments if s.type == PT_DYNAMIC), None)
        if segment is None:
            return None
        if not segment.file_size or any(s.name == ".dynamic" and s.type == SHT_NOBITS for s in elf.sections):
            raise ExtractError(
                f"{elf.path}: contains only debug information",
                "pass the library itself, and this file's folder as --debug-dir",
            )
        _check_loaded([each for each in elf.segments if each.type == PT_LOAD], elf)
        data = elf.read_at(segment.offset, segment.file_size)
        entry = struct.Struct(elf.order + ("iI" if elf.bits == 32 else "qQ"))
        values: dict[int, list[int]] = {}
        for tag, value in entry.iter_unpack(data[: len(data) // entry.size * entry.size]):
            if tag == 0:
                break
            values.setdefault(tag, []).append(value)
        return cls(elf, values)

    def get(self, tag: int) -> int | None:
        """The value of ``tag``, the last one where it is repeated, as the loader takes it."""
        found = self.values.get(tag)
        return found[-1] if found else None

    @cached_property
    def strings(self) -> bytes:
        """The dynamic string table."""
        address, size = self.get(DT_STRTAB), self.get(DT_STRSZ)
        if address is None or not size:
            return b""
        return self.elf.at_address(address, size)

    def texts(self, tag: int) -> tuple[str, ...]:
        """The strings of all entries with ``tag``, in order."""
        return tuple(text_at(self.strings, offset) for offset in self.values.get(tag, ()))

    def text(self, tag: int) -> str | None:
        """The string of the last entry with ``tag``, or ``None`` where there is none or it is empty."""
        found = self.texts(tag)
        return (found[-1] or None) if found else None

    @property
    def flags(self) -> int:
        """DT_FLAGS."""
        return self.get(DT_FLAGS) or 0

    @property
    def flags_1(self) -> int:
        """DT_FLAGS_1."""
        return self.get(DT_FLAGS_1) or 0

    @property
    def bind_now(self) -> bool:
        """Whether the loader resolves all symbols at once, by any of the three ways to ask for it."""
        return DT_BIND_NOW in self.values or bool(self.flags & DF_BIND_NOW or self.flags_1 & DF_1_NOW)

    @property
    def text_relocations(self) -> bool:
        """Whether relocations may change read-only segments."""
        return DT_TEXTREL in self.values or bool(self.flags & DF_TEXTREL)


def _check_loaded(loaded: Sequence[ElfSegment], elf: ElfFile) -> None:
    """Refuse segments that are not all in the file, and those that lay another part of it over a page of one before."""
    for segment in loaded:
        elf.file.check_range(segment.offset, segment.file_size)
    for before, after in pairwise(sorted(loaded, key=lambda each: each.address)):
        end = before.address + before.memory_size
        if after.address // PAGE * PAGE < end and after.address - after.offset != before.address - before.offset:
            raise ExtractError(f"{elf.path}: two loaded segments overlap", "relink the library")


def features(dynamic: DynamicSection) -> tuple[str, ...]:
    """What else the loader is told, by the names of the gABI and of ``elf.h``, sorted."""
    found = {name for bit, name in _FLAGS.items() if dynamic.flags & bit}
    found |= {name for bit, name in _FLAGS_1.items() if dynamic.flags_1 & bit}
    if DT_SYMBOLIC in dynamic.values:
        found.add("DF_SYMBOLIC")
    if DT_RELR in dynamic.values:
        found.add("DT_RELR")
    if DT_HASH in dynamic.values:
        found.add("DT_HASH")
    interpreter = next((each for each in dynamic.elf.segments if each.type == PT_INTERP), None)
    if interpreter is not None:
        text = dynamic.elf.read_at(interpreter.offset, min(interpreter.file_size, LONGEST_PATH))
        found.add(f"PT_INTERP {text.partition(bytes(1))[0].decode('utf-8', 'replace')}")
    found.update(f"DT_AUXILIARY {name}" for name in dynamic.texts(DT_AUXILIARY))
    found.update(f"DT_FILTER {name}" for name in dynamic.texts(DT_FILTER))
    return tuple(sorted(found))
