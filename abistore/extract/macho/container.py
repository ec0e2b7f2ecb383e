"""A Mach-O file of one architecture, and universal files with several."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import msgspec

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.elf.container import expand_old
from abistore.extract.files import InputFile, text_at
from abistore.model.snapshot import Target

FAT_MAGIC: Final = 0xCAFEBABE
FAT_MAGIC_64: Final = 0xCAFEBABF

MAGICS: Final[dict[bytes, tuple[bool, bool]]] = {
    b"\xfe\xed\xfa\xce": (False, False),
    b"\xce\xfa\xed\xfe": (False, True),
    b"\xfe\xed\xfa\xcf": (True, False),
    b"\xcf\xfa\xed\xfe": (True, True),
}
"""The first four bytes of a thin file: whether it is of 64 bits, and whether little-endian."""

MH_OBJECT, MH_EXECUTE, MH_FVMLIB, MH_CORE, MH_PRELOAD, MH_DYLIB, MH_DYLINKER, MH_BUNDLE, MH_DYLIB_STUB, MH_DSYM = range(
    1, 11
)

MH_TWOLEVEL: Final = 0x80
MH_ALLOW_STACK_EXECUTION: Final = 0x20000
MH_PIE: Final = 0x200000
MH_NO_HEAP_EXECUTION: Final = 0x1000000
MH_APP_EXTENSION_SAFE: Final = 0x2000000

LC_REQ_DYLD: Final = 0x80000000
LC_SEGMENT: Final = 0x1
LC_SYMTAB: Final = 0x2
LC_LOAD_DYLIB: Final = 0xC
LC_ID_DYLIB: Final = 0xD
LC_SUB_FRAMEWORK: Final = 0x12
LC_SUB_CLIENT: Final = 0x14
LC_LOAD_WEAK_DYLIB: Final = 0x18 | LC_REQ_DYLD
LC_SEGMENT_64: Final = 0x19
LC_UUID: Final = 0x1B
LC_RPATH: Final = 0x1C | LC_REQ_DYLD
LC_CODE_SIGNATURE: Final = 0x1D
LC_REEXPORT_DYLIB: Final = 0x1F | LC_REQ_DYLD
LC_LAZY_LOAD_DYLIB: Final = 0x20
LC_DYLD_INFO: Final = 0x22
LC_DYLD_INFO_ONLY: Final = 0x22 | LC_REQ_DYLD
LC_LOAD_UPWARD_DYLIB: Final = 0x23 | LC_REQ_DYLD
LC_VERSION_MIN_MACOSX: Final = 0x24
LC_VERSION_MIN_IPHONEOS: Final = 0x25
LC_VERSION_MIN_TVOS: Final = 0x2F
LC_VERSION_MIN_WATCHOS: Final = 0x30
LC_BUILD_VERSION: Final = 0x32
LC_DYLD_EXPORTS_TRIE: Final = 0x33 | LC_REQ_DYLD
LC_DYLD_CHAINED_FIXUPS: Final = 0x34 | LC_REQ_DYLD

DEPENDENCIES: Final[dict[int, str]] = {
    LC_LOAD_DYLIB: "",
    LC_LOAD_WEAK_DYLIB: "weak",
    LC_REEXPORT_DYLIB: "re-exported",
    LC_LAZY_LOAD_DYLIB: "lazy",
    LC_LOAD_UPWARD_DYLIB: "upward",
}
"""Load commands that name another library, with the word for how it is linked. Their order is that of ordinals."""

DYLIB_USE_MARKER: Final = 0x1A741800
DYLIB_USE: Final = ((0x1, "weak"), (0x2, "re-exported"), (0x4, "upward"), (0x8, "lazy"))
"""``dylib_use_command``, of linkers since 2024: a load command with this mark has flags behind its versions."""

PLATFORMS: Final[dict[int, str]] = {
    1: "macos",
    2: "ios",
    3: "tvos",
    4: "watchos",
    5: "bridgeos",
    6: "maccatalyst",
    7: "ios-simulator",
    8: "tvos-simulator",
    9: "watchos-simulator",
    10: "driverkit",
    11: "visionos",
    12: "visionos-simulator",
}

SECTION_TYPE: Final = 0xFF
S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL = 0x1, 0xC, 0x12
ZERO_FILLED: Final = frozenset({S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL})
S_THREAD_LOCAL_VARIABLES: Final = 0x13
S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS = 0x80000000, 0x400

N_STAB, N_PEXT, N_TYPE, N_EXT = 0xE0, 0x10, 0x0E, 0x01
N_UNDF, N_ABS, N_SECT, N_INDR = 0x0, 0x2, 0xE, 0xA
N_WEAK_REF, N_WEAK_DEF = 0x40, 0x80
N_ARM_THUMB_DEF: Final = 0x8
N_OSO: Final = 0x66

VM_PROT_WRITE, VM_PROT_EXECUTE = 0x2, 0x4

SG_READ_ONLY: Final = 0x10
"""The segment is not writable any more once its addresses are relocated."""

MOST_PARTS = 42
"""More parts than there are architectures. The magic is also that of Java classes, whose version stands there."""

_HEADER = struct.Struct(">II")


class UniversalPart(msgspec.Struct, frozen=True):
    """Where one architecture lies in a file."""

    offset: int
    size: int


def is_universal(head: bytes) -> bool:
    """Whether ``head`` begins a universal file."""
    if len(head) < _HEADER.size:
        return False
    magic, count = _HEADER.unpack_from(head)
    return magic in (FAT_MAGIC, FAT_MAGIC_64) and count <= MOST_PARTS


def is_macho(head: bytes) -> bool:
    """Whether ``head`` begins a Mach-O file, universal or of one architecture."""
    return head[:4] in MAGICS or is_universal(head)


def parts_of(file: InputFile) -> tuple[UniversalPart, ...]:
    """The parts of a universal file, in its order; of another one the whole. Raises :class:`ExtractError`."""
    if not is_universal(file.head):
        return (UniversalPart(0, file.size),)
    magic, count = _HEADER.unpack_from(file.head)
    row = struct.Struct(">IIQQII" if magic == FAT_MAGIC_64 else ">IIIII")
    table = file.read_at(_HEADER.size, row.size * count)
    ends = _HEADER.size + row.size * count
    parts = []
    for _cpu, _subtype, offset, size, *_ in sorted(row.iter_unpack(table), key=lambda each: int(each[2])):
        if offset < ends:
            raise ExtractError(f"{file.path}: the parts of the universal file overlap", "copy or download it again")
        file.check_range(offset, size)
        ends = offset + size
        parts.append(UniversalPart(offset, size))
    return tuple(parts)


MOST_COMMANDS = 65_536
MOST_SECTIONS = 65_536

_SEGMENT = {False: "16sIIIIiiII", True: "16sQQQQiiII"}
_SECTION = {False: "16s16sIIIIIIIII", True: "16s16sQQIIIIIIII"}


class LoadCommand(msgspec.Struct, frozen=True):
    """A load command: its number, and its bytes without number and size."""

    kind: int
    data: bytes


class MachoSegment(msgspec.Struct, frozen=True):
    """One segment; ``offset`` and ``file_size`` are of the file, ``address`` and ``size`` of memory."""

    name: str
    address: int
    size: int
    offset: int
    file_size: int
    protection: int
    flags: int


class MachoSection(msgspec.Struct, frozen=True):
    """One section. ``alignment`` is a power of two, ``offset`` and ``size`` are in bytes of the file."""

    name: str
    segment: str
    address: int
    size: int
    offset: int
    alignment: int
    flags: int

    @property
    def type(self) -> int:
        """What it holds: ``S_REGULAR``, ``S_ZEROFILL``, ..."""
        return self.flags & SECTION_TYPE


class MachOFile:
    """One architecture of a Mach-O file. Its load commands are read at once, contents on demand and not kept.

    Raises :class:`UnknownFormat` where the magic is missing, :class:`ExtractError` where the file is truncated or
    contradicts itself, :class:`abistore.errors.LimitExceeded` above ``max_bytes``.
    """

    def __init__(self, file: InputFile, max_bytes: int, part: UniversalPart | None = None) -> None:
        self.file = file
        self.path = file.path
        self.part = part or UniversalPart(0, file.size)
        self.size = self.part.size
        self.max_bytes = max_bytes
        file.check_size(max_bytes)
        self._read_header()
        self.segments, self.sections = self._read_segments()
        self._by_name: dict[str, MachoSection] = {}
        for section in self.sections:
            self._by_name.setdefault(section.name, section)

    def _read_header(self) -> None:
        magic = MAGICS.get(self.read_at(0, min(4, self.size)))
        if magic is None:
            raise UnknownFormat(f"{self.path}: not a Mach-O file")
        wide, self.little = magic
        self.bits: Literal[32, 64] = 64 if wide else 32
        self.order = "<" if self.little else ">"
        layout = struct.Struct(self.order + ("6I4x" if wide else "6I"))
        self.cpu, self.subtype, self.type, count, size, self.flags = layout.unpack(self.read_at(4, layout.size))
        self.commands = tuple(self._commands(self.read_at(4 + layout.size, size), count))

    def _commands(self, data: bytes, count: int) -> Iterator[LoadCommand]:
        if count > MOST_COMMANDS:
            raise ExtractError(f"{self.path}: {count:,} load commands are more than a file can have")
        place, layout = 0, struct.Struct(self.order + "II")
        for number in range(count):
            if place + 8 > len(data):
                raise ExtractError(f"{self.path}: load command {number} lies behind the others' end")
            kind, size = layout.unpack_from(data, place)
            if size < 8 or place + size > len(data):
                raise ExtractError(f"{self.path}: load command {number} has the impossible size {size}")
            yield LoadCommand(kind, data[place + 8 : place + size])
            place += size

    def _read_segments(self) -> tuple[tuple[MachoSegment, ...], tuple[MachoSection, ...]]:
        wide = self.bits == 64
        head = struct.Struct(self.order + _SEGMENT[wide])
        row = struct.Struct(self.order + _SECTION[wide])
        segments: list[MachoSegment] = []
        sections: list[MachoSection] = []
        for command in self.all(LC_SEGMENT_64 if wide else LC_SEGMENT):
            name, address, size, offset, file_size, _most, protection, count, flags = self.unpacked(command, head)
            segments.append(MachoSegment(_short(name), address, size, offset, file_size, protection, flags))
            if count > MOST_SECTIONS or head.size + count * row.size > len(command.data):
                raise ExtractError(f"{self.path}: segment {_short(name)} has more sections than its load command")
            for each in row.iter_unpack(command.data[head.size : head.size + count * row.size]):
                title, owner, start, length, place, alignment, _relocations, _count, flags, *_ = each
                sections.append(MachoSection(_short(title), _short(owner), start, length, place, alignment, flags))
        return tuple(segments), tuple(sections)

    # --- load commands --------------------------------------------------------------------------------------------

    def all(self, *kinds: int) -> Iterator[LoadCommand]:
        """The load commands of these kinds, in order."""
        return (each for each in self.commands if each.kind in kinds)

    def first(self, *kinds: int) -> LoadCommand | None:
        """The first load command of these kinds."""
        return next(self.all(*kinds), None)

    def unpacked(self, command: LoadCommand, layout: struct.Struct | str) -> tuple[int, ...]:
        """The fields that a load command begins with. Raises :class:`ExtractError` where it is too short."""
        fields = struct.Struct(self.order + layout) if isinstance(layout, str) else layout
        if len(command.data) < fields.size:
            raise ExtractError(f"{self.path}: load command {command.kind:#x} is cut off")
        return fields.unpack_from(command.data)

    def text_of(self, command: LoadCommand, offset: int) -> str:
        """The text of a load command, ``offset`` bytes from the command's beginning."""
        place = offset - 8
        if not 0 <= place <= len(command.data):
            raise ExtractError(f"{self.path}: the text of load command {command.kind:#x} lies outside of it")
        return text_at(command.data, place)

    # --- bytes ----------------------------------------------------------------------------------------------------

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes at an offset of this architecture. Raises :class:`ExtractError` where they are not there."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ExtractError(
                f"{self.path}: truncated: {size:,} bytes at offset {offset:,} of {self.size:,}",
                "copy or download the file again",
            )
        return self.file.read_at(self.part.offset + offset, size)

    @cached_property
    def base(self) -> int:
        """The address of the header, from which the exports trie counts."""
        return next((each.address for each in self.segments if each.name == "__TEXT"), 0)

    @property
    def chained(self) -> LoadCommand | None:
        """The load command of chained fixups."""
        return self.first(LC_DYLD_CHAINED_FIXUPS)

    # --- debug information: see DebugFile ---------------------------------------------------------------------------

    tls_addresses = range(0)
    """Debug information names thread-local variables by the addresses of their descriptors."""

    alternate_link = None

    def has(self, name: str) -> bool:
        """Whether the file holds the contents of section ``name``, plain or compressed."""
        section = self._find(name)
        return section is not None and section.size > 0 and section.type not in ZERO_FILLED

    def section(self, name: str) -> bytes:
        """The decompressed contents of section ``name``, as ELF calls it; empty where it is absent."""
        section = self._find(name)
        return b"" if section is None else self.contents(section)

    def sections_named(self, name: str) -> Iterator[bytes]:
        """The contents of section ``name``: a file has one of each name."""
        section = self._find(name)
        if section is not None:
            yield self.contents(section)

    def contents(self, section: MachoSection) -> bytes:
        """The decompressed contents of ``section``."""
        if section.type in ZERO_FILLED or not section.size:
            return b""
        data = self.read_at(section.offset, section.size)
        return expand_old(data, self.max_bytes) if section.name.startswith("__z") else data

    def _find(self, name: str) -> MachoSection | None:
        """Names have 16 characters at most: ``.debug_str_offsets`` is ``__debug_str_offs``."""
        title = name.removeprefix(".")
        return self._by_name.get(f"__{title}"[:16]) or self._by_name.get(f"__z{title}"[:16])

    def check_unchanged(self) -> None:
        """Raises :class:`ExtractError` where the file was written to since it was opened."""
        self.file.check_unchanged()

    def another(self, path: Path) -> MachOFile:
        """A further file with the same limit of size. Raises :class:`abistore.errors.InputError`."""
        return MachOFile(InputFile(path), self.max_bytes)

    @cached_property
    def uuid(self) -> str | None:
        """What identifies the build: the same 32 hexadecimal digits as in its ``.dSYM``."""
        command = self.first(LC_UUID)
        return command.data[:16].hex() if command and len(command.data) >= 16 and any(command.data[:16]) else None


def _short(name: bytes | int) -> str:
    return bytes(name).rstrip(b"\0").decode("utf-8", "backslashreplace") if isinstance(name, bytes) else ""


CPU_X86, CPU_ARM, CPU_PPC = 7, 12, 18
ABI64, ABI64_32 = 0x01000000, 0x02000000
CPU_X86_64, CPU_ARM64, CPU_ARM64_32, CPU_PPC64 = CPU_X86 | ABI64, CPU_ARM | ABI64, CPU_ARM | ABI64_32, CPU_PPC | ABI64
SUBTYPE = 0x00FFFFFF
ARM64E, X86_64_H = 2, 8

_ARM = {5: "armv4t", 6: "armv6", 7: "armv5", 9: "armv7", 10: "armv7f", 11: "armv7s", 12: "armv7k", 14: "armv6m"}
_MACHINES = {
    CPU_X86: "i386",
    CPU_X86_64: "x86_64",
    CPU_ARM: "arm",
    CPU_ARM64: "aarch64",
    CPU_ARM64_32: "aarch64-ilp32",
    CPU_PPC: "ppc",
    CPU_PPC64: "ppc64",
}

_MINIMUM = {
    LC_VERSION_MIN_MACOSX: "macos",
    LC_VERSION_MIN_IPHONEOS: "ios",
    LC_VERSION_MIN_TVOS: "tvos",
    LC_VERSION_MIN_WATCHOS: "watchos",
}


class MachoPlatform(msgspec.Struct, frozen=True):
    """The system that a file is for, and the oldest release of it."""

    name: str
    minimum: str | None = None


def platform_of(macho: MachOFile) -> MachoPlatform:
    """The system of ``macho``: of a file for two (a zippered one), the first, which is macOS. Old files name none."""
    for command in macho.all(LC_BUILD_VERSION, *_MINIMUM):
        if command.kind in _MINIMUM:
            return MachoPlatform(_MINIMUM[command.kind], version_text(macho.unpacked(command, "I")[0]))
        number, minimum = macho.unpacked(command, "II")
        return MachoPlatform(PLATFORMS.get(number, f"platform-{number}"), version_text(minimum))
    return MachoPlatform("macos")


def target_of(macho: MachOFile) -> Target:
    """The platform that ``macho`` is for."""
    return Target("macho", _machine(macho), macho.bits, "little" if macho.little else "big", platform_of(macho).name)


def _machine(macho: MachOFile) -> str:
    subtype = macho.subtype & SUBTYPE
    if macho.cpu == CPU_ARM64 and subtype == ARM64E:
        return "arm64e"
    if macho.cpu == CPU_X86_64 and subtype == X86_64_H:
        return "x86_64h"
    if macho.cpu == CPU_ARM:
        return _ARM.get(subtype, "arm")
    return _MACHINES.get(macho.cpu, f"machine-{macho.cpu}")


def version_text(number: int) -> str:
    """``1.2.3`` for a version in four bytes; a last part of zero is left out: ``11.0``."""
    major, minor, patch = number >> 16, number >> 8 & 0xFF, number & 0xFF
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


SELF_ORDINAL, EXECUTABLE_ORDINAL = 0, -1
EXECUTABLE = "the main executable"


class Dylib(msgspec.Struct, frozen=True):
    """A library as a load command names it. ``linkage`` holds ``weak``, ``re-exported``, ``upward`` or ``lazy``."""

    name: str
    current: str
    compatibility: str
    linkage: tuple[str, ...] = ()


def own_name(macho: MachOFile) -> Dylib | None:
    """How a dylib is asked for; bundles and executables have no name."""
    command = macho.first(LC_ID_DYLIB)
    return _dylib(macho, command) if command else None


def dependencies(macho: MachOFile) -> tuple[Dylib, ...]:
    """What the file needs, in the order of ordinals: the first one is 1."""
    return tuple(_dylib(macho, command) for command in macho.all(*DEPENDENCIES))


def _dylib(macho: MachOFile, command: LoadCommand) -> Dylib:
    offset, stamp, current, compatibility = macho.unpacked(command, "4I")
    linkage = {DEPENDENCIES.get(command.kind, "")} - {""}
    if stamp == DYLIB_USE_MARKER and offset >= 28:
        flags = macho.unpacked(command, "5I")[4]
        linkage |= {word for bit, word in DYLIB_USE if flags & bit}
    name = macho.text_of(command, offset)
    return Dylib(name, version_text(current), version_text(compatibility), tuple(sorted(linkage)))


def search_paths(macho: MachOFile) -> tuple[str, ...]:
    """The folders that ``@rpath`` stands for, in order."""
    return _texts(macho, LC_RPATH)


def clients(macho: MachOFile) -> tuple[str, ...]:
    """The only libraries that may link to this one, sorted; empty where every library may."""
    return tuple(sorted({*_texts(macho, LC_SUB_CLIENT), *_texts(macho, LC_SUB_FRAMEWORK)}))


def _texts(macho: MachOFile, kind: int) -> tuple[str, ...]:
    return tuple(macho.text_of(each, macho.unpacked(each, "I")[0]) for each in macho.all(kind))


def provider(ordinal: int, needed: tuple[Dylib, ...]) -> str | None:
    """The library that an ordinal stands for; ``None`` where any library may provide the symbol."""
    if ordinal == EXECUTABLE_ORDINAL:
        return EXECUTABLE
    return needed[ordinal - 1].name if 0 < ordinal <= len(needed) else None
