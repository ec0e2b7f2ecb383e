"""A Mach-O file of one architecture: header, load commands, segments, sections, and the bytes of each."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from abistore.errors import ExtractError, UnknownFormat
from abistore.extract.elf.compressed import expand_old
from abistore.extract.input_file import InputFile
from abistore.extract.macho.constants import (
    LC_DYLD_CHAINED_FIXUPS,
    LC_SEGMENT,
    LC_SEGMENT_64,
    LC_UUID,
    MAGICS,
    SECTION_TYPE,
    ZERO_FILLED,
)
from abistore.extract.macho.universal import UniversalPart
from abistore.extract.string_table import text_at

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
